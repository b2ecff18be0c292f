import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { maxCompared, sentWorkspace, pluralText, type ModelChoice } from '@belay/protocol';
import { isPlayed } from '@/components/checks/checks';
import { TopBar } from '@/components/top-bar';
import { Button } from '@/components/ui/button';
import { formatKeys } from '@/lib/keys';
import { examplesQuery, modelsQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { toast, toastError } from '@/lib/toasts';
import { ModelPicker } from './model-picker';
import { MoreOptions } from './more-options';
import { CompareFields } from './compare-fields';
import {
  archiveOf,
  comparisonOf,
  emptyForm,
  sessionsOf,
  uploadWorkspace,
  type SessionForm,
} from './new-session';
import { TaskFields } from './task-fields';
import { TemplateField } from './template-field';
import { WorkspaceField } from './workspace-field';

const route = getRouteApi('/new');

/** One form for one session, or for several models or tasks at once. */
export function NewSessionPage() {
  const { example, task } = route.useSearch();
  const navigate = useNavigate();
  const models = useQuery(modelsQuery);
  const examples = useQuery(examplesQuery);
  const [form, setForm] = useState<SessionForm>(() => ({
    ...emptyForm,
    ...remembered(),
    tasks: [task ?? ''],
    ...(example && { workspace: { kind: 'example' as const, name: example } }),
  }));
  const [picked, setPicked] = useState(false);
  const [working, setWorking] = useState('');
  const change = (part: Partial<SessionForm>) => setForm((now) => ({ ...now, ...part }));
  // Models of the last time that cannot be called now are not started out of sight.
  const ready = new Set(models.data?.filter((each) => each.ready).map(({ name }) => name));
  const usable = picked ? form.models : form.models.filter((name) => ready.has(name));
  const chosen = usable.length ? usable : suggested(models.data, form);
  const most = Math.max(1, Math.floor(maxCompared / Math.max(1, chosen.length)));
  const wholeForm = { ...form, models: chosen, runs: Math.min(form.runs, most) };
  const compares = comparisonOf(wholeForm, null) !== undefined;
  const count = sessionsOf(wholeForm, null).length * (compares ? wholeForm.runs : 1);

  const start = async () => {
    try {
      const files = form.workspace.kind === 'folder' ? form.workspace.files : undefined;
      setWorking(files ? 'Uploading…' : 'Starting…');
      const archive = files && count <= mostSent ? await archiveOf(files) : undefined;
      const workspace = archive ? sentWorkspace : await uploadWorkspace(form);
      setWorking('Starting…');
      const comparison = comparisonOf(wholeForm, workspace);
      if (comparison) {
        const { id } = await client.comparisons.create(comparison);
        remember({ ...form, models: picked ? form.models : usable });
        await navigate({ to: '/compare/$id', params: { id } });
        return;
      }
      const wanted = sessionsOf(wholeForm, workspace);
      const started = [];
      for (const session of wanted) started.push(await client.sessions.create(session));
      remember({ ...form, models: picked ? form.models : usable });
      // Its page shows how far the files are.
      if (archive) for (const { id } of started) send(id, archive);
      const [only] = started;
      if (started.length === 1 && only)
        await navigate({ to: '/sessions/$id', params: { id: only.id } });
      else {
        toast(`${pluralText(started.length, 'session')} started.`);
        await navigate({ to: '/' });
      }
    } catch (error) {
      toastError(error);
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
          <div className="flex flex-wrap items-center justify-between gap-2">
            <h1 className="text-xl font-semibold">New session</h1>
            <TemplateField
              form={form}
              models={chosen}
              onChoose={(part) => {
                if (part.models) setPicked(true);
                change(part);
              }}
            />
          </div>
          <TaskFields tasks={form.tasks} onChange={(tasks) => change({ tasks })} />
          <ModelPicker
            choices={models.data}
            error={models.error}
            chosen={chosen}
            onChange={(next) => {
              setPicked(true);
              change({ models: next });
            }}
          />
          <CompareFields form={wholeForm} onChange={change} />
          <WorkspaceField
            value={form.workspace}
            examples={examples.data ?? []}
            onChange={(workspace) => change({ workspace })}
          />
          <MoreOptions form={form} onChange={change} />
          <div className="flex items-center gap-3 border-t pt-4">
            <Button look="solid" type="submit" disabled={working !== '' || chosen.length === 0}>
              {working || (count > 1 ? `Start ${pluralText(count, 'session')}` : 'Start')}
            </Button>
            {chosen.length > 0 && working === '' && (
              <kbd className="text-xs text-faint">{formatKeys('mod+enter')}</kbd>
            )}
            {chosen.length === 0 && (
              <span className="text-sm text-muted">
                Choose a model first. Scripted models only play what was written for them.
              </span>
            )}
          </div>
        </form>
      </main>
    </>
  );
}

/** A browser has six connections to a server. A folder for more sessions is stored there once, and read by each. */
const mostSent = 4;

/** Into the sandbox of the session that waits for it. */
function send(session: string, archive: Uint8Array): void {
  client.uploads.toSession(session, archive, { bytes: archive.length }).catch(toastError);
}

/** The first model that can be called; one that only plays an example is not a model for a task of one’s own. */
function suggested(models: readonly ModelChoice[] = [], { workspace }: SessionForm): string[] {
  const example = workspace.kind === 'example' && `scripted:example:${workspace.name}`;
  const model =
    models.find(({ name, ready }) => ready && !isPlayed(name)) ??
    models.find(({ name }) => name === example);
  return model ? [model.name] : [];
}

const storageKey = 'belay.new-session';

/** What was chosen last, but for the task, the files, and what the server has settings for. */
function remembered(): Partial<SessionForm> {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<SessionForm>;
  } catch {
    return {};
  }
}

function remember({
  tasks: _tasks,
  workspace: _workspace,
  own: _own,
  check: _check,
  runs: _runs,
  mcp: _mcp,
  actions: _actions,
  mounts: _mounts,
  ...rest
}: SessionForm): void {
  localStorage.setItem(storageKey, JSON.stringify(rest));
}
