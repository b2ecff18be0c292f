import {
  resultOf,
  runResultOf,
  type AgentTurn,
  type Event,
  type EventAction,
  type EventArgs,
  type EventOf,
  type OperationCall,
} from '@belay/protocol';
import { LayeredMap } from '@/lib/layered-map';
import type { BackgroundResult, Result } from './call-result';
import { addEntry, entryKind, joinEntries, type HadEnded, type LogEntry } from './log-entries';
import { markKind, type Mark } from './log-marks';

export type Commit = Event & EventOf<'commit'>;
export type CodeEdit = Event & EventOf<'code'>;

/** Everything the panels show of a section of the log. */
export interface LogView {
  entries: readonly LogEntry[];
  results: LayeredMap<string, Result>;
  /** The calls in the model’s replies, by id. */
  asked: LayeredMap<string, OperationCall>;
  /** Results of background calls. */
  backgroundResults: ReadonlyMap<string, BackgroundResult>;
  verdicts: ReadonlyMap<string, Event>;
  commits: ReadonlyMap<string, Commit>;
  /** Edits by call id. */
  edits: ReadonlyMap<string, readonly CodeEdit[]>;
  terminals: ReadonlyMap<string, EventArgs<'terminal'>>;
  /** The offset of each terminal’s output after its last command result, in bytes. */
  terminalEnds: ReadonlyMap<string, number>;
  /** How much each terminal had printed, as far as the log says so, in bytes. */
  printed: ReadonlyMap<string, number>;
  /** The terminal that was opened last. */
  openedTerminal?: { name: string; seq: number };
  /** The latest text of each queued message the user edited, by the message’s event number. */
  edited: ReadonlyMap<number, string>;
  /** The numbers of the events that delivered queued messages, by the messages’ numbers. */
  delivered: ReadonlyMap<number, number>;
  /** Messages that are reviews of changes. */
  reviews: readonly (Event & EventOf<'message'>)[];
  /** All rewinds: they decide which of the rest still counts, see `undone.ts`. */
  rewinds: readonly (Event & EventOf<'rewind'>)[];
  /** The calls that undid a step, by the step’s commit; the last one for each. */
  undos: ReadonlyMap<string, string>;
  /** The `withdraw` events of queued messages, by the message’s event number. */
  withdrawn: ReadonlyMap<number, Event>;
  marks: readonly Mark[];
  usage: readonly (Event & EventOf<'usage'>)[];
  lastEdit?: CodeEdit;
  lastCommit?: Commit;
  plan?: Event & EventOf<'plan'>;
  /** The settings that the agent’s program offers. */
  agentSettings?: Extract<AgentTurn, { change: 'settings' }>;
  page?: Event & EventOf<'browser'>;
  state?: Event & EventOf<'state'>;
  /** The guidance that the user trusts. */
  guidance?: Event & EventOf<'guidance'>;
  /** Whether the session began with trust in its workspace. */
  isTrusted?: true;
  /** Texts of the guidance files trusted during the session, by path. */
  trusted: ReadonlyMap<string, string>;
  lastSeq: number;
  /** The time of the last event; empty before the first. */
  lastTime: string;
}

export const emptyView: LogView = viewOf([]);

/** Folds a section of the log into a view. */
export function viewOf(events: readonly Event[]): LogView {
  const building = start();
  for (const event of events) add(building, event);
  return {
    ...building,
    results: LayeredMap.of(building.results),
    asked: LayeredMap.of(building.asked),
  };
}

/** Joins two adjacent sections. Associative, so pages may be joined in any order. */
export function joinViews(earlier: LogView, later: LogView): LogView {
  if (!earlier.lastSeq) return later;
  if (!later.lastSeq) return earlier;
  return {
    ...earlier,
    ...later,
    entries: joinEntries(earlier.entries, later.entries, hadEndedIn(earlier, later)),
    results: earlier.results.join(later.results),
    asked: earlier.asked.join(later.asked),
    backgroundResults: joinMaps(earlier.backgroundResults, later.backgroundResults),
    verdicts: joinMaps(earlier.verdicts, later.verdicts),
    commits: joinMaps(earlier.commits, later.commits),
    edits: joinEdits(earlier.edits, later.edits),
    terminals: joinMaps(earlier.terminals, later.terminals),
    terminalEnds: joinMaps(earlier.terminalEnds, later.terminalEnds),
    printed: joinMaps(earlier.printed, later.printed),
    edited: joinMaps(earlier.edited, later.edited),
    delivered: joinMaps(earlier.delivered, later.delivered),
    reviews: joinLists(earlier.reviews, later.reviews),
    rewinds: joinLists(earlier.rewinds, later.rewinds),
    undos: joinMaps(earlier.undos, later.undos),
    withdrawn: joinMaps(earlier.withdrawn, later.withdrawn),
    marks: joinLists(earlier.marks, later.marks),
    usage: joinLists(earlier.usage, later.usage),
    trusted: joinMaps(earlier.trusted, later.trusted),
  };
}

interface Ends {
  results: { get(call: string): Event | undefined };
  verdicts: ReadonlyMap<string, Event>;
}

/** A call has ended with its result, or with a denial. */
const hadEndedIn =
  (...views: Ends[]): HadEnded =>
  (call, { seq }) =>
    views.some(({ results, verdicts }) => {
      const verdict = verdicts.get(call);
      const ends = [results.get(call), verdict?.action === 'reject' ? verdict : undefined];
      return ends.some((end) => end !== undefined && end.seq < seq);
    });

type Building = {
  -readonly [K in keyof LogView]: LogView[K] extends
    ReadonlyMap<infer Key, infer Value> | LayeredMap<infer Key, infer Value>
    ? Map<Key, Value>
    : LogView[K] extends readonly (infer Item)[]
      ? Item[]
      : LogView[K];
};

function start(): Building {
  return {
    entries: [],
    results: new Map(),
    asked: new Map(),
    backgroundResults: new Map(),
    verdicts: new Map(),
    commits: new Map(),
    edits: new Map(),
    terminals: new Map(),
    terminalEnds: new Map(),
    printed: new Map(),
    edited: new Map(),
    delivered: new Map(),
    reviews: [],
    rewinds: [],
    undos: new Map(),
    withdrawn: new Map(),
    marks: [],
    usage: [],
    trusted: new Map(),
    lastSeq: 0,
    lastTime: '',
  };
}

function add(view: Building, event: Event): void {
  view.lastSeq = event.seq;
  view.lastTime = event.time;
  const kind = entryKind(event);
  if (kind) addEntry(view.entries, { kind, event }, hadEndedIn(view));
  const mark = markKind(event);
  if (mark) view.marks.push({ seq: event.seq, kind: mark });
  folds.get(event.action)?.(view, event as never);
}

type Folds = { [A in EventAction]?: (view: Building, event: Event & EventOf<A>) => void };

/** How events of each action change the view, apart from entries and marks. */
const folds = new Map(
  Object.entries({
    approve: addVerdict,
    reject: addVerdict,
    result: addResult,
    say: (view, { args }) => {
      for (const call of args.calls) view.asked.set(call.id, call);
    },
    deliver: (view, { seq, args }) => {
      for (const message of args.messages) view.delivered.set(message, seq);
    },
    start: (view, { args }) => {
      if (args.trust) view.isTrusted = true;
    },
    'background-result': (view, event) => view.backgroundResults.set(event.id ?? '', event),
    usage: (view, event) => view.usage.push(event),
    terminal: addTerminal,
    commit: addCommit,
    code: addEdit,
    edit: (view, { args }) => view.edited.set(args.message, args.text),
    message: (view, event) => {
      if (event.args.review) view.reviews.push(event);
    },
    rewind: (view, event) => view.rewinds.push(event),
    withdraw: (view, event) => view.withdrawn.set(event.args.message, event),
    turn: (view, { args }) => {
      if (args.change === 'settings') view.agentSettings = args;
    },
    plan: (view, event) => {
      view.plan = event;
    },
    browser: (view, event) => {
      view.page = event;
    },
    state: (view, event) => {
      view.state = event;
    },
    guidance: (view, event) => {
      view.guidance = event;
    },
  } satisfies Folds),
);

function addVerdict(view: Building, event: Event): void {
  view.verdicts.set(event.id ?? '', event);
}

function addResult(view: Building, event: Result): void {
  if (event.id) view.results.set(event.id, event);
  for (const { path, text } of resultOf(event, 'workspace.trust')?.files ?? [])
    view.trusted.set(path, text);
  const undone = resultOf(event, 'workspace.undo')?.undone;
  if (undone) view.undos.set(undone.commit, event.id ?? '');
  const run = runResultOf(event.args);
  if (!run) return;
  view.terminalEnds.set(run.terminal, run.to);
  view.printed.set(run.terminal, run.to);
}

function addTerminal(view: Building, { seq, args }: Event & EventOf<'terminal'>): void {
  const { terminal: name, change, to } = args;
  view.terminals.set(name, args);
  if (to !== undefined) view.printed.set(name, to);
  if (change === 'opened') view.openedTerminal = { name, seq };
}

function addCommit(view: Building, event: Commit): void {
  if (event.id) view.commits.set(event.id, event);
  view.lastCommit = event;
}

function addEdit(view: Building, event: CodeEdit): void {
  view.lastEdit = event;
  if (event.id) view.edits.set(event.id, [...(view.edits.get(event.id) ?? []), event]);
}

function joinMaps<K, V>(earlier: ReadonlyMap<K, V>, later: ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  if (!later.size) return earlier;
  if (!earlier.size) return later;
  const joined = new Map(earlier);
  for (const [key, value] of later) joined.set(key, value);
  return joined;
}

function joinEdits(earlier: LogView['edits'], later: LogView['edits']): LogView['edits'] {
  if (!later.size) return earlier;
  const joined = new Map(earlier);
  for (const [call, edits] of later) joined.set(call, [...(joined.get(call) ?? []), ...edits]);
  return joined;
}

function joinLists<T>(earlier: readonly T[], later: readonly T[]): readonly T[] {
  if (!later.length) return earlier;
  return earlier.concat(later);
}
