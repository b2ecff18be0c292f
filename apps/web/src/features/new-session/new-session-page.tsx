import { useMemo, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { isPlayedModel, pluralText, subscriptionModel, type ModelChoice } from '@belay/protocol';
import { Page } from '@/components/page';
import { Button } from '@/components/ui/button';
import { Meter } from '@/components/ui/meter';
import { useAttachments } from '@/features/chat/composer/use-attachments';
import { formatKeys } from '@/lib/keys';
import { agentsQuery, examplesQuery, modelsQuery } from '@/lib/queries';
import { toast, toastError } from '@/lib/toasts';
import { usableAgents } from '@/lib/usable-agents';
import { useForm } from '@/lib/use-form';
import { AgentField } from './agent-field';
import { CompareFields } from './compare-fields';
import { misfitOf } from './misfit-of';
import { ModelPicker } from './model-picker';
import { MoreOptions } from './more-options';
import { rememberedForm, rememberForm } from './remembered-form';
import { emptyForm, knownPaths, missingIn, mostRuns, type SessionForm } from './session-form';
import { signsIn } from './signs-in';
import { sessionCount, startSessions, type Started, type StartPhase } from './start-sessions';
import { TaskFields } from './task-fields';
import { TemplateField } from './template-field';
import { WorkspaceField } from './workspace-field';

const route = getRouteApi('/new');

/** The form for a session, or for several with different models or tasks. */
export function NewSessionPage() {
  const { example, task } = route.useSearch();
  const navigate = useNavigate();
  const models = useQuery(modelsQuery);
  const examples = useQuery(examplesQuery);
  const { values, change, bind } = useForm<SessionForm>(() => ({
    ...emptyForm,
    ...rememberedForm(),
    tasks: [task ?? ''],
    ...(example && { workspace: { kind: 'example' as const, name: example } }),
  }));
  const attached = useAttachments();
  const files = useMemo(() => knownPaths(values.workspace), [values.workspace]);
  const [picked, setPicked] = useState(false);
  const [phase, setPhase] = useState<StartPhase>();
  const choose = (part: Partial<SessionForm>) => {
    if (part.models) setPicked(true);
    change(part);
  };
  // Leaves out remembered models that are unavailable now. Models picked since then are kept.
  const ready = new Set(models.data?.filter((each) => each.ready).map(({ name }) => name));
  const usable = picked ? values.models : values.models.filter((name) => ready.has(name));
  const chosen = usable.length ? usable : suggested(models.data, values);
  const pictures = attached.items;
  const agents = useQuery(agentsQuery);
  // A remembered one may have been removed.
  const known = usableAgents(agents.data).find(({ name }) => name === values.agent);
  const agent = known?.name ?? '';
  const login = signsIn(values, known);
  // The model of a sign-in is chosen in the agent, and only one session may use it.
  const competitors = login
    ? { models: [subscriptionModel(agent)], others: [], login }
    : { models: chosen, others: values.others, login };
  const runs = Math.min(values.runs, mostRuns(competitors));
  const form = { ...values, ...competitors, agent, runs, pictures };
  const missing = missingIn(form) ?? (login ? undefined : misfitOf(known, chosen));
  const start = async () => {
    try {
      const started = await startSessions(form, setPhase);
      rememberForm({ ...values, models: usable });
      if ('sessions' in started && started.sessions.length !== 1)
        toast(`${pluralText(started.sessions.length, 'session')} started.`);
      await navigate(pageOf(started));
    } catch (error) {
      toastError(error);
      setPhase(undefined);
    }
  };
  return (
    <Page title="New session · Belay" className="overflow-y-auto">
      <form
        className="mx-auto max-w-2xl space-y-6 p-6 max-sm:p-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!phase && missing === undefined) void start();
        }}
      >
        <div className="flex flex-wrap items-center justify-between gap-2">
          <h1 className="text-xl font-semibold">New session</h1>
          <TemplateField form={values} models={chosen} onChoose={choose} />
        </div>
        <TaskFields {...bind('tasks')} files={files} attached={attached} />
        {!login && (
          <ModelPicker
            choices={models.data}
            error={models.error}
            chosen={chosen}
            onChange={(next) => choose({ models: next })}
          />
        )}
        <AgentField form={form} onChange={change} />
        <CompareFields form={form} onChange={change} />
        <WorkspaceField examples={examples.data ?? []} {...bind('workspace')} />
        <MoreOptions form={values} onChange={change} />
        <StartButton phase={phase} count={sessionCount(form)} missing={missing} />
      </form>
    </Page>
  );
}

interface StartButtonProps {
  /** Undefined before the start. */
  phase: StartPhase | undefined;
  count: number;
  /** What the form lacks. */
  missing: string | undefined;
}

function StartButton({ phase, count, missing }: StartButtonProps) {
  return (
    <div className="flex items-center gap-3 border-t pt-4">
      <Button look="solid" type="submit" disabled={phase !== undefined || missing !== undefined}>
        {phase?.label ?? (count > 1 ? `Start ${pluralText(count, 'session')}` : 'Start')}
      </Button>
      {phase?.share !== undefined && (
        <div className="w-60">
          <Meter label="Uploaded" value={phase.share * 100} max={100} plain />
        </div>
      )}
      {!phase && missing === undefined && (
        <kbd className="text-xs text-faint max-sm:hidden">{formatKeys('mod+enter')}</kbd>
      )}
      {missing !== undefined && <span className="text-sm text-muted">{missing}</span>}
    </div>
  );
}

/** The page to open after the start. */
function pageOf(started: Started) {
  if ('comparison' in started)
    return { to: '/compare/$id', params: { id: started.comparison } } as const;
  const [only, ...more] = started.sessions;
  if (only !== undefined && more.length === 0)
    return { to: '/sessions/$id', params: { id: only } } as const;
  return { to: '/' } as const;
}

/** The first available model. Scripted ones are suggested only for the example they belong to. */
function suggested(models: readonly ModelChoice[] = [], { workspace }: SessionForm): string[] {
  const example = workspace.kind === 'example' && `scripted:example:${workspace.name}`;
  const model =
    models.find(({ name, ready }) => ready && !isPlayedModel(name)) ??
    models.find(({ name }) => name === example);
  return model ? [model.name] : [];
}
