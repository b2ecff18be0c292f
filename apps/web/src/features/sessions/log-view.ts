import { isEnded, isFact, type Event, type EventArgs, type Fact } from '@belay/protocol';
import { Layers } from '@/lib/layers';
import { repeatedAct } from './repeated-act';

/** What the chat shows, in order. Cards look up the rest (result, verdict, commit) by the call's id. */
export interface Entry {
  kind: 'message' | 'say' | 'call' | 'approval' | 'note';
  event: Event;
}

export type Result = Event & Fact<'result'>;
export type Commit = Event & Fact<'commit'>;
export type CodeEdit = Event & Fact<'code'>;

/** A point of the log worth a mark on the timeline. */
export interface Mark {
  seq: number;
  kind: 'message' | 'step' | 'edit' | 'failed' | 'approval' | 'ended';
}

/** All that the panels show of a stretch of the log. */
export interface LogView {
  entries: readonly Entry[];
  results: Layers<string, Result>;
  verdicts: ReadonlyMap<string, Event>;
  commits: ReadonlyMap<string, Commit>;
  /** Edits by the call that made them. */
  edits: ReadonlyMap<string, readonly CodeEdit[]>;
  terminals: ReadonlyMap<string, EventArgs<'terminal'>>;
  /** Where each terminal's output ended after the last answer of an operation, in bytes. */
  terminalEnds: ReadonlyMap<string, number>;
  marks: readonly Mark[];
  usage: readonly (Event & Fact<'usage'>)[];
  lastEdit: CodeEdit | null;
  lastCommit: Commit | null;
  plan: (Event & Fact<'plan'>) | null;
  page: (Event & Fact<'browser'>) | null;
  state: (Event & Fact<'state'>) | null;
  /** What a person trusts to guide the agent. */
  guidance: (Event & Fact<'guidance'>) | null;
  lastSeq: number;
}

export const emptyView: LogView = viewOf([]);

/** Folds a stretch of the log on its own. */
export function viewOf(events: readonly Event[]): LogView {
  const building = start();
  for (const event of events) add(building, event);
  return { ...building, results: new Layers([building.results]) };
}

/** Joins two stretches, the earlier first. Associative: pages may be folded in any order. */
export function joinViews(earlier: LogView, later: LogView): LogView {
  if (!earlier.lastSeq) return later;
  if (!later.lastSeq) return earlier;
  return {
    entries: joinEntries(earlier.entries, later.entries),
    results: earlier.results.join(later.results),
    verdicts: joinMaps(earlier.verdicts, later.verdicts),
    commits: joinMaps(earlier.commits, later.commits),
    edits: joinEdits(earlier.edits, later.edits),
    terminals: joinMaps(earlier.terminals, later.terminals),
    terminalEnds: joinMaps(earlier.terminalEnds, later.terminalEnds),
    marks: joinLists(earlier.marks, later.marks),
    usage: joinLists(earlier.usage, later.usage),
    lastEdit: later.lastEdit ?? earlier.lastEdit,
    lastCommit: later.lastCommit ?? earlier.lastCommit,
    plan: later.plan ?? earlier.plan,
    page: later.page ?? earlier.page,
    state: later.state ?? earlier.state,
    guidance: later.guidance ?? earlier.guidance,
    lastSeq: later.lastSeq,
  };
}

type Building = {
  -readonly [K in keyof LogView]: LogView[K] extends
    ReadonlyMap<infer Key, infer Value> | Layers<infer Key, infer Value>
    ? Map<Key, Value>
    : LogView[K] extends readonly (infer Item)[]
      ? Item[]
      : LogView[K];
};

function start(): Building {
  return {
    entries: [],
    results: new Map(),
    verdicts: new Map(),
    commits: new Map(),
    edits: new Map(),
    terminals: new Map(),
    terminalEnds: new Map(),
    marks: [],
    usage: [],
    lastEdit: null,
    lastCommit: null,
    plan: null,
    page: null,
    state: null,
    guidance: null,
    lastSeq: 0,
  };
}

function add(view: Building, event: Event): void {
  view.lastSeq = event.seq;
  const kind = entryKind(event);
  if (kind) addEntry(view.entries, { kind, event });
  const mark = markOf(event);
  if (mark) view.marks.push({ seq: event.seq, kind: mark });
  if (isFact(event, 'result')) addResult(view, event);
  else if (isFact(event, 'plan')) view.plan = event;
  else if (isFact(event, 'browser')) view.page = event;
  else if (isFact(event, 'usage')) view.usage.push(event);
  else if (isFact(event, 'terminal')) view.terminals.set(event.args.terminal, event.args);
  else if (isFact(event, 'state')) view.state = event;
  else if (isFact(event, 'guidance')) view.guidance = event;
  else if (isFact(event, 'commit')) addCommit(view, event);
  else if (isFact(event, 'code')) addEdit(view, event);
  else if (event.action === 'approve' || event.action === 'reject')
    view.verdicts.set(event.id ?? '', event);
}

/** Puts an entry at the end; what a person only went on with is one entry with what came before. */
function addEntry(entries: Entry[], entry: Entry): void {
  const last = entries.at(-1);
  const event = last?.kind === 'call' ? repeatedAct(last.event, entry.event) : null;
  if (event) entries[entries.length - 1] = { kind: 'call', event };
  else entries.push(entry);
}

function addResult(view: Building, event: Result): void {
  if (event.id) view.results.set(event.id, event);
  const output = event.args.output as { terminal?: unknown; to?: unknown } | null;
  if (typeof output?.terminal === 'string' && typeof output.to === 'number')
    view.terminalEnds.set(output.terminal, output.to);
}

function addCommit(view: Building, event: Commit): void {
  if (event.id) view.commits.set(event.id, event);
  view.lastCommit = event;
}

function addEdit(view: Building, event: CodeEdit): void {
  view.lastEdit = event;
  if (event.id) view.edits.set(event.id, [...(view.edits.get(event.id) ?? []), event]);
}

const dialogue = new Set(['think', 'ask', 'finish']);
const readingByPerson =
  /^(files\.(list|read|search)|workspace\.(diff|show|log|trust)|terminal\.(list|read)|browser\.(read|console|screenshot)|system\.)/;

/** Whether an event is a call of an operation, as opposed to a fact. */
const isCall = (event: Event): boolean =>
  event.id !== undefined && (event.action.includes('.') || dialogue.has(event.action));

function entryKind(event: Event): Entry['kind'] | null {
  if (event.action === 'start' || event.action === 'message') return 'message';
  if (isFact(event, 'say')) return event.args.text || event.args.reasoning ? 'say' : null;
  if (event.action === 'approval') return 'approval';
  if (isCall(event))
    return event.action === 'plan.update' ||
      (event.source === 'user' && readingByPerson.test(event.action))
      ? null
      : 'call';
  if (isFact(event, 'egress')) return event.args.verdict === 'refused' ? 'note' : null;
  if (isFact(event, 'state')) return told.has(event.args.state) ? 'note' : null;
  return noted.has(event.action) ? 'note' : null;
}

/** States that the chat tells of. The others show in the header, and a finish has its own card. */
const told = new Set(['paused', 'failed', 'limited', 'stopped']);

const noted = new Set([
  'pause',
  'resume',
  'stop',
  'limit',
  'retry',
  'compact',
  'restore',
  'rewind',
  'fork',
  'guidance',
  'mcp',
  'change',
  'stalled',
]);

function markOf(event: Event): Mark['kind'] | null {
  if (event.action === 'message' || event.action === 'start') return 'message';
  if (event.action === 'say') return 'step';
  if (event.action === 'code') return 'edit';
  if (event.action === 'approval') return 'approval';
  if (isFact(event, 'result')) return failed(event) ? 'failed' : null;
  if (isFact(event, 'state')) return isEnded(event.args.state) ? 'ended' : null;
  return null;
}

/** Whether a call went wrong: an error, or a command with an exit code other than 0. */
export function failed(result: Result): boolean {
  if (!result.args.ok) return true;
  const code = (result.args.output as { exitCode?: unknown } | null)?.exitCode;
  return typeof code === 'number' && code !== 0;
}

function joinMaps<K, V>(earlier: ReadonlyMap<K, V>, later: ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  if (!later.size) return earlier;
  if (!earlier.size) return later;
  const joined = new Map(earlier);
  for (const [key, value] of later) joined.set(key, value);
  return joined;
}

function joinLists<T>(earlier: readonly T[], later: readonly T[]): readonly T[] {
  if (!later.length) return earlier;
  return earlier.concat(later);
}

function joinEntries(earlier: readonly Entry[], later: readonly Entry[]): readonly Entry[] {
  const [first] = later;
  if (!first || !earlier.length) return joinLists(earlier, later);
  const joined = earlier.slice(-1);
  addEntry(joined, first);
  return earlier.slice(0, -1).concat(joined, later.slice(1));
}

function joinEdits(earlier: LogView['edits'], later: LogView['edits']): LogView['edits'] {
  if (!later.size) return earlier;
  const joined = new Map(earlier);
  for (const [call, edits] of later) joined.set(call, [...(joined.get(call) ?? []), ...edits]);
  return joined;
}
