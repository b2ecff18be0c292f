import { calledOperation, isEvent, type Event, type Operation } from '@belay/protocol';
import { gesturesOf, joinGestures, type Gestures } from './gestures';

/** An entry of the chat. Cards look up the result, verdict and commit by the call’s id. */
export interface LogEntry {
  kind: 'message' | 'say' | 'call' | 'refused' | 'approval' | 'note' | 'gestures';
  event: Event;
  /** For `gestures`: the consecutive gestures, starting with this event. */
  gestures?: Gestures;
  /** Consecutive file reads of the agent, starting with this event. */
  reads?: readonly Event[];
}

export function entryKind(event: Event): LogEntry['kind'] | null {
  const operation = event.id === undefined ? undefined : calledOperation(event.action);
  if (operation && gesturesOf(event)) return 'gestures';
  if (operation) return isShown(operation, event) ? 'call' : null;
  if (isRefusal(event)) return 'refused';
  return hasNothingToShow(event) ? null : (kinds.get(event.action) ?? null);
}

/** Whether a result may be that of a call that never began; the chat shows those without an event of the call. */
const isRefusal = (event: Event): boolean =>
  isEvent(event, 'result') &&
  event.source === 'agent' &&
  !event.args.ok &&
  event.args.seconds === 0;

function hasNothingToShow(event: Event): boolean {
  if (isEvent(event, 'say')) return !event.args.text && !event.args.reasoning;
  if (isEvent(event, 'egress')) return event.args.verdict !== 'refused';
  if (isEvent(event, 'attention')) return event.args.why === null;
  return isEvent(event, 'state') && !shownStates.has(event.args.state);
}

/** Whether a call had ended before an event. */
export type HadEnded = (call: string, before: Event) => boolean;

/** Appends an entry, or merges it into the previous one if it continues that. */
export function addEntry(entries: LogEntry[], entry: LogEntry, hadEnded: HadEnded): void {
  const place = placeOf(entries, entry, hadEnded);
  if (place < entries.length) return void entries.splice(place, 0, entry);
  const last = entries.at(-1);
  const gestures = entry.gestures ?? gesturesIn(entry);
  if (gestures && last?.gestures)
    entries[entries.length - 1] = { ...last, gestures: joinGestures(last.gestures, gestures) };
  else if (gestures) entries.push({ ...entry, gestures });
  else addCall(entries, entry);
}

/**
 * What a program’s model says before a call reaches the log after the call, which the server reads from the reply; the
 * chat shows it before the call.
 */
function placeOf(entries: readonly LogEntry[], { event }: LogEntry, hadEnded: HadEnded): number {
  let place = entries.length;
  if (event.action !== 'say') return place;
  for (let at = place - 1; at >= 0; at -= 1) {
    const { kind, event: earlier } = entries[at] as LogEntry;
    if (kind === 'approval') continue;
    const isHeld = kind === 'call' && earlier.source === 'server';
    if (!isHeld || hadEnded(earlier.id ?? '', event)) break;
    place = at;
  }
  return place;
}

function addCall(entries: LogEntry[], entry: LogEntry): void {
  const last = entries.at(-1);
  const reads = entry.reads ?? (isRead(entry) ? [entry.event] : undefined);
  if (reads && last?.reads)
    entries[entries.length - 1] = { ...last, reads: [...last.reads, ...reads] };
  else entries.push(reads ? { ...entry, reads } : entry);
}

const isRead = ({ kind, event }: LogEntry): boolean =>
  kind === 'call' && event.source === 'agent' && calledOperation(event.action)?.display === 'file';

const gesturesIn = ({ kind, event }: LogEntry): Gestures | null =>
  kind === 'gestures' ? gesturesOf(event) : null;

/** Joins two sections, merging an entry that was split between them. */
export function joinEntries(
  earlier: readonly LogEntry[],
  later: readonly LogEntry[],
  hadEnded: HadEnded,
): readonly LogEntry[] {
  const [first] = later;
  if (!first) return earlier;
  const place = placeOf(earlier, first, hadEnded);
  if (place < earlier.length)
    return earlier.slice(0, place).concat(first, earlier.slice(place), later.slice(1));
  const seam = earlier.slice(-1);
  addEntry(seam, first, hadEnded);
  if (seam.length !== 1) return earlier.concat(later);
  return earlier.slice(0, -1).concat(seam, later.slice(1));
}

/** The chat omits calls that are shown by another event, and the user’s quiet calls. */
function isShown(operation: Operation, { source, args }: Event): boolean {
  if (operation.display === 'event') return false;
  const input = operation.input.safeParse(args);
  return source !== 'user' || !input.success || !operation.quiet(input.data);
}

/** The states the chat shows. Others appear in the header, `finished` has its own card, and a pause its own note. */
const shownStates = new Set(['failed', 'limited', 'stopped']);

const kinds = new Map<string, LogEntry['kind']>([
  ['start', 'message'],
  ['message', 'message'],
  ['say', 'say'],
  ['approval', 'approval'],
  ...[
    'state',
    'egress',
    'pause',
    'resume',
    'stop',
    'limit',
    'retry',
    'compact',
    'restore',
    'rewind',
    'fork',
    'placed',
    'restored',
    'imported',
    'guidance',
    'mcp',
    'change',
    'stalled',
    'publish',
    'check',
    'unreadable',
    'breach',
    'exit',
    'background-result',
    'attention',
  ].map((action) => [action, 'note'] as const),
]);
