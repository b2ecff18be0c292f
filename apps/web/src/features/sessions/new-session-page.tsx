import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { TopBar } from '@/app/top-bar';
import { Button } from '@/components/ui/button';
import { plural } from '@/lib/format';
import { client } from '@/lib/server';
import { say, sayError } from '@/lib/toasts';
import { ModelPicker } from './model-picker';
import { MoreOptions } from './more-options';
import { emptyDraft, sessionsOf, uploadWorkspace, type Draft } from './new-session';
import { examplesQuery, modelsQuery } from './queries';
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
    tasks: task ?? '',
    ...(example && { workspace: { kind: 'example' as const, name: example } }),
  }));
  const [working, setWorking] = useState('');
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const ready = models.data?.filter((model) => model.ready) ?? [];
  const chosen = draft.models.length ? draft.models : ready.slice(0, 1).map(({ name }) => name);
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
            void start();
          }}
        >
          <h1 className="text-xl font-semibold">New session</h1>
          <label className="block">
            <span className="mb-1 block text-sm font-medium">Task</span>
            <textarea
              autoFocus
              required
              rows={5}
              value={draft.tasks}
              onChange={(event) => change({ tasks: event.target.value })}
              placeholder="What should be done, and how you will know that it is"
              className="field-sizing-content min-h-28 w-full rounded-md border border-line-strong bg-panel px-3 py-2 text-base"
            />
            <span className="mt-1 block text-xs text-faint">
              Several tasks, each in a session of its own: part them with a line of three dashes.
            </span>
          </label>
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
            {chosen.length === 0 && (
              <span className="text-sm text-muted">Choose a model first.</span>
            )}
          </div>
        </form>
      </main>
    </>
  );
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
