import {
  isCall,
  isEvent,
  rewinds,
  undoneMessages,
  type Event,
  type NewEvent,
} from '@belay/protocol';

/** The events that count for the conversation; queued messages have their latest text. */
export function counted(events: readonly Event[]): Event[] {
  const all = events.filter(counts(events));
  const edits = all.filter((event) => isEvent(event, 'edit'));
  if (edits.length === 0) return all;
  const texts = new Map(edits.map(({ args }) => [args.message, args.text]));
  return all.map((event) => {
    const text = texts.get(event.seq);
    return text === undefined || !isEvent(event, 'message')
      ? event
      : { ...event, args: { ...event.args, text } };
  });
}

/** Decides which events count for the conversation; rewound, restored and withdrawn ones do not. */
export function counts(events: readonly Event[]): (event: Event) => boolean {
  const restored = new Set(
    events.filter((event) => isEvent(event, 'restore')).map((event) => event.args.seq),
  );
  const calls = new Map(
    events.filter(({ action }) => isCall(action)).map(({ id, seq }) => [id, seq] as const),
  );
  const inForce = events.filter(({ seq }) => !restored.has(seq));
  const isUndone = undoneMessages(inForce, (id) => calls.get(id));
  const isKept = (event: Event): boolean => !restored.has(event.seq) && !isUndone(event);
  const withdrawn = new Set(
    events
      .filter((event) => isEvent(event, 'withdraw'))
      .filter(isKept)
      .map(({ args }) => args.message),
  );
  return (event) => isKept(event) && !(withdrawn.has(event.seq) && isEvent(event, 'message'));
}

/** Whether an event changes how earlier ones count. */
export const recounts = (event: Event): boolean =>
  isEvent(event, 'restore') ||
  isEvent(event, 'edit') ||
  isEvent(event, 'withdraw') ||
  rewinds(event, 'conversation');

/** Whether the conversation or the loop depends on an event; other events need not be kept in memory. */
export function matters(event: Pick<NewEvent, 'action'>): boolean {
  return !irrelevant.has(event.action);
}

const irrelevant = new Set([
  'attention',
  'code',
  'terminal',
  'browser',
  'egress',
  'replaced',
  'request',
  'usage',
  'approval',
  'approve',
  'reject',
  'retry',
  'stalled',
  'breach',
  'pushing',
  'publish',
  'deliver',
]);

/**
 * Events of others first, then the agent’s, in the order in which its prompts knew them: an event written during a
 * model’s reply follows that reply.
 */
export function inPromptOrder(events: readonly Event[]): Event[] {
  return [
    ...events.filter((event) => !isOwn(event)),
    ...events.filter(isOwn).sort((a, b) => promptPosition(a) - promptPosition(b)),
  ];
}

/** The position of an agent’s event among its others. */
export function promptPosition(event: Event): number {
  const seen = isEvent(event, 'say') ? event.args.seen : undefined;
  return seen ? seen.own + 0.5 : event.seq;
}

/**
 * Whether the agent wrote an event. Calls that it makes for a user have that user as their source; those of the server
 * are what a program asked its model for.
 */
export function isOwn({ source, action }: Event): boolean {
  return source === 'agent' || (source === 'user' && (action === 'result' || isCall(action)));
}

/** Whether an event of others ends all work of the session. */
export const endsSession = (event: Event): boolean =>
  rewinds(event, 'conversation') || isEvent(event, 'stop') || isEvent(event, 'limit');
