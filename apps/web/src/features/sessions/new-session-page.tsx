import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { ModelChoice } from '@belay/protocol';
import { TopBar } from '@/app/top-bar';
import { Button } from '@/components/ui/button';
import { plural } from '@/lib/format';
import { formatKeys } from '@/lib/keys';
import { client } from '@/lib/server';
import { say, sayError } from '@/lib/toasts';
import { isPlayed } from '../settings/checks';
import { ModelPicker } from './model-picker';
import { MoreOptions } from './more-options';
import { emptyDraft, sessionsOf, uploadWorkspace, type Draft } from './new-session';
import { examplesQuery, modelsQuery } from './queries';
import { TaskFields } from './task-fields';
import { WorkspaceField } from './workspace-field';

const route = getRouteApi('/new');

/** One form for one session, or for several models or tasks at once. */
export function NewSessionPage() {
  const { example, task } = route.useSearch();
  const navigate = useNavigate();
  const models = useQuery(modelsQuery);
  const examples = useQuery(examplesQuery);
  const [draft, setDraft] = useState<Draft>(() => ({
    ...emptyDraft,
    ...remembered(),
    tasks: [task ?? ''],
    ...(example && { workspace: { kind: 'example' as const, name: example } }),
  }));
  const [working, setWorking] = useState('');
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const chosen = draft.models.length ? draft.models : suggested(models.data, draft);
  const count = sessionsOf({ ...draft, models: chosen }, null).length;

  const start = async () => {
    try {
      setWorking(draft.workspace.kind === 'folder' ? 'Uploading…' : 'Starting…');
      const workspace = await uploadWorkspace(draft);
      setWorking('Starting…');
      const wanted = sessionsOf({ ...draft, models: chosen }, workspace);
      const started = [];
      for (const session of wanted) started.push(await client.sessions.create(session));
      remember(draft);
      const [only] = started;
      if (started.length === 1 && only)
        await navigate({ to: '/sessions/$id', params: { id: only.id } });
      else {
        say(`${plural(started.length, 'session')} started.`);
        await navigate({ to: '/' });
      }
    } catch (error) {
      sayError(error);
      setWorking('');
    }
  };

  return (
    <>
      <title>New session · Belay</title>
      <TopBar />
      <main id="content" className="min-h-0 flex-1 overflow-y-auto">
        <form
          className="mx-auto max-w-2xl space-y-6 p-6 max-sm:p-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (working === '' && chosen.length > 0) void start();
          }}
        >
          <h1 className="text-xl font-semibold">New session</h1>
          <TaskFields tasks={draft.tasks} onChange={(tasks) => change({ tasks })} />
          <ModelPicker
            choices={models.data}
            error={models.error}
            chosen={chosen}
            onChange={(next) => change({ models: next })}
          />
          <WorkspaceField
            value={draft.workspace}
            examples={examples.data ?? []}
            onChange={(workspace) => change({ workspace })}
          />
          <MoreOptions draft={draft} onChange={change} />
          <div className="flex items-center gap-3 border-t pt-4">
            <Button look="solid" type="submit" disabled={working !== '' || chosen.length === 0}>
              {working || (count > 1 ? `Start ${plural(count, 'session')}` : 'Start')}
            </Button>
            {chosen.length > 0 && working === '' && (
              <kbd className="text-xs text-faint">{formatKeys('mod+enter')}</kbd>
            )}
            {chosen.length === 0 && (
              <span className="text-sm text-muted">
                Choose a model first. The ones that are scripted only play what was written for
                them.
              </span>
            )}
          </div>
        </form>
      </main>
    </>
  );
}

/** The first model that can be called; one that only plays an example is no model for a task of one's own. */
function suggested(models: readonly ModelChoice[] = [], { workspace }: Draft): string[] {
  const example = workspace.kind === 'example' && `scripted:example:${workspace.name}`;
  const model =
    models.find(({ name, ready }) => ready && !isPlayed(name)) ??
    models.find(({ name }) => name === example);
  return model ? [model.name] : [];
}

const storageKey = 'belay.new-session';

/** What was chosen last, but for the task, the files, and what the server has settings for. */
function remembered(): Partial<Draft> {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<Draft>;
  } catch {
    return {};
  }
}

function remember({
  tasks: _tasks,
  workspace: _workspace,
  own: _own,
  mcp: _mcp,
  ...rest
}: Draft): void {
  localStorage.setItem(storageKey, JSON.stringify(rest));
}
