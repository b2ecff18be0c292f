import { isFact, isCall, type Event, type NewEvent } from '@belay/protocol';

/** The events that count for the conversation: those that were rewound or restored are left out. */
export function counted(events: readonly Event[]): readonly Event[] {
  const restored = new Set(
    events.filter((event) => isFact(event, 'restore')).map((event) => event.args.seq),
  );
  let kept = events;
  if (restored.size > 0) kept = kept.filter((event) => !restored.has(event.seq));
  for (const rewind of kept.filter((event) => isFact(event, 'rewind'))) {
    if (rewind.args.what === 'files') continue;
    kept = kept.filter((event) => !isUndone(event, rewind.args.seq, rewind.seq));
  }
  return kept;
}

function isUndone(event: Event, to: number, at: number): boolean {
  if (event.seq <= to || event.seq === at || isTrust(event)) return false;
  if (event.seq < at) return true;
  // A reply that was under way when the person rewound answers what no longer counts.
  return isFact(event, 'say') && (event.args.seen?.others ?? event.seq) < at;
}

/** Trust is in the workspace and what it says: going back in the conversation does not take it back. */
function isTrust(event: Event): boolean {
  if (isFact(event, 'result')) return event.args.operation === 'workspace.trust';
  return event.action === 'workspace.trust' || event.action === 'guidance';
}

/** Whether the conversation or the loop depends on an event; the others need not be kept in memory. */
export function matters(event: Pick<NewEvent, 'action'>): boolean {
  return !passing.has(event.action);
}

const passing = new Set([
  'code',
  'commit',
  'terminal',
  'browser',
  'egress',
  'usage',
  'approval',
  'approve',
  'reject',
  'retry',
  'stalled',
]);

/**
 * The agent's events in the order in which its prompts knew them: what it wrote while a model replied
 * comes after that reply.
 */
export function ownOrder(events: readonly Event[]): Event[] {
  return events.filter(isOwn).sort((a, b) => place(a) - place(b));
}

/** Whether the agent wrote an event; the calls that it makes for a person have that person as their source. */
export function isOwn({ source, action }: Event): boolean {
  return source === 'agent' || action === 'result' || isCall(action);
}

function place(event: Event): number {
  const seen = isFact(event, 'say') ? event.args.seen : undefined;
  return seen ? seen.own + 0.5 : event.seq;
}
