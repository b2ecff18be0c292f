import {
  calledOperation,
  isEvent,
  pathsOf,
  type Event,
  type TraceContributor,
} from '@belay/protocol';

/** Successive commits of a session’s history by one contributor. */
export interface TracedStep {
  from: string;
  to: string;
  contributor: TraceContributor;
}

/** A call, as far as it says who changed files. */
interface Caller {
  isUser: boolean;
  /** Whether its step has only the changes of files that it names. */
  isLimited: boolean;
  /** Whether it brings back what others wrote. */
  isRestoring: boolean;
}

interface Gathered {
  /** The commit that the history began with; undefined if the log does not say. */
  first: string | undefined;
  steps: TracedStep[];
  calls: Map<string, Caller>;
  model: string | undefined;
  /** Whether the user typed in a terminal, whose effects a later step may have. */
  hasTyped: boolean;
  /** Whether earlier steps are those of another session. */
  isContinued: boolean;
}

const unknown: TraceContributor = { type: 'unknown' };

/**
 * Who made which steps of a history, by the log. What its agent does not attribute to a call is `unknown`. Empty for a
 * session that continues the changes of another one.
 */
export function tracedSteps(events: readonly Event[]): TracedStep[] {
  const gathered: Gathered = {
    first: undefined,
    steps: [],
    calls: new Map(),
    model: undefined,
    hasTyped: false,
    isContinued: false,
  };
  for (const event of events) addEvent(gathered, event);
  return gathered.isContinued ? [] : joined(gathered.steps);
}

function addEvent(gathered: Gathered, event: Event): void {
  if (isEvent(event, 'fork') || isEvent(event, 'imported')) {
    // The history of this session begins with the files of another one, whose steps it does not have.
    gathered.isContinued ||= gathered.steps.length > 0;
    gathered.first = undefined;
    gathered.steps = [];
    gathered.calls.clear();
    return;
  }
  if (isEvent(event, 'start') || isEvent(event, 'change'))
    gathered.model = event.args.model ?? gathered.model;
  if (isEvent(event, 'terminal') && event.args.change === 'typed') gathered.hasTyped = true;
  if (isEvent(event, 'commit')) addCommit(gathered, event.args, event.id);
  else if (event.id !== undefined) addCall(gathered.calls, event.id, event);
}

function addCall(calls: Gathered['calls'], id: string, { action, args, source }: Event): void {
  const operation = calledOperation(action);
  if (!operation) return;
  const { data, success } = operation.input.safeParse(args);
  calls.set(id, {
    isUser: source === 'user',
    isLimited: success && pathsOf(operation, data).length > 0,
    isRestoring: operation.commitsItself,
  });
}

function addCommit(
  gathered: Gathered,
  { commit, parent }: { commit: string; parent: string | null },
  call: string | undefined,
): void {
  if (parent === null) gathered.first ??= commit;
  if (parent === null || parent === commit) return;
  const { steps } = gathered;
  const last = steps.at(-1)?.to ?? gathered.first;
  if (last !== parent) {
    // Steps after the parent were lost with their sandbox, or steps before it were not logged.
    const kept = steps.findIndex(({ to }) => to === parent) + 1;
    const isKnown = kept > 0 || gathered.first === parent;
    if (isKnown) steps.length = kept;
    else steps.push({ from: last ?? parent, to: parent, contributor: unknown });
  }
  steps.push({ from: parent, to: commit, contributor: contributorOf(gathered, call) });
}

function contributorOf(
  { calls, model, hasTyped }: Gathered,
  id: string | undefined,
): TraceContributor {
  const call = id === undefined ? undefined : calls.get(id);
  if (!call || call.isRestoring) return unknown;
  if (call.isUser) return { type: 'human' };
  const type = hasTyped && !call.isLimited ? 'mixed' : 'ai';
  return { type, ...(model !== undefined && { model_id: model.replace(':', '/').slice(0, 250) }) };
}

function joined(steps: readonly TracedStep[]): TracedStep[] {
  const all: TracedStep[] = [];
  for (const step of steps) {
    const last = all.at(-1);
    if (last && isSame(last.contributor, step.contributor)) last.to = step.to;
    else all.push({ ...step });
  }
  return all;
}

const isSame = (a: TraceContributor, b: TraceContributor): boolean =>
  a.type === b.type && a.model_id === b.model_id;
