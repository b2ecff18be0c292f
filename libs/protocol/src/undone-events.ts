import { isEvent, type Event, type EventOf } from './events.js';
import { operationNamed } from './operations/index.js';

type Rewind = Event & EventOf<'rewind'>;
type Commit = Event & EventOf<'commit'>;
type Aspect = 'files' | 'conversation';

/** Whether a rewind concerns the files or the conversation. */
export const rewinds = (event: Event, aspect: Aspect): event is Rewind =>
  isEvent(event, 'rewind') && (event.args.what === 'both' || event.args.what === aspect);

/**
 * Decides which events of a log its rewinds of the conversation have undone. `callAt` is the number of a call’s event,
 * because a later result belongs to its call; without it, such a result counts where it is.
 */
export function undoneMessages(
  all: readonly Event[],
  callAt: (id: string | undefined) => number | undefined = () => undefined,
): (event: Event) => boolean {
  const inForce = rewindsInForce(all, 'conversation');
  if (inForce.length === 0) return () => false;
  return (event) => {
    if (outlivesRewinds(event)) return false;
    const position = (isEvent(event, 'background-result') && callAt(event.id)) || event.seq;
    return inForce.some(({ seq: at, args: { seq: to } }) => {
      if (position <= to || event.seq === at) return false;
      // A reply in progress during a rewind answers messages that no longer count.
      return (
        position < at || (isEvent(event, 'say') && (event.args.seen?.others ?? event.seq) < at)
      );
    });
  };
}

/**
 * Decides which commits of a log its rewinds of the files have undone. `resultAt` is the number of a call’s result: its
 * changes were made by then, although their commit follows it.
 */
export function undoneCommits(
  all: readonly Event[],
  resultAt: (id: string | undefined) => number | undefined,
): (commit: Event) => boolean {
  const inForce = rewindsInForce(all, 'files');
  return (commit) => {
    const made = Math.min(commit.seq, resultAt(commit.id) ?? commit.seq);
    return inForce.some(({ seq, args }) => made > args.seq && commit.seq <= (args.last ?? seq));
  };
}

/** The events that decide whether changes of files still count. */
export interface ChangeRecords {
  /** By the ids of their calls. */
  readonly commits: ReadonlyMap<string, Commit>;
  readonly results: { get(id: string): Pick<Event, 'seq'> | undefined };
  readonly rewinds: readonly Event[];
  /** The ids of the calls that undid single commits, by these. */
  readonly undos: ReadonlyMap<string, string>;
}

/** Whether the changes of a commit were undone: by a rewind of the files, or by undoing its step. */
export function isUndoneCommit(records: ChangeRecords, commit: Commit): boolean {
  const { rewinds, undos, results, commits } = records;
  if (undoneCommits(rewinds, (id) => results.get(id ?? '')?.seq)(commit)) return true;
  const undo = commits.get(undos.get(commit.args.commit) ?? '');
  // An undo that was itself undone no longer counts. A log that an agent made up could refer in circles.
  return undo !== undefined && undo.seq > commit.seq && !isUndoneCommit(records, undo);
}

/**
 * A rewind returns to the state at an event, with the rewinds that were in force then: it undoes those in between, too.
 * So a rewind is itself undone by one to the event before it.
 */
function rewindsInForce(all: readonly Event[], aspect: Aspect): Rewind[] {
  const inForce: Rewind[] = [];
  const latestFirst = all
    .filter((event) => rewinds(event, aspect))
    .toSorted((a, b) => b.seq - a.seq);
  for (const rewind of latestFirst) {
    const isUndone = inForce.some(({ seq, args }) => args.seq < rewind.seq && rewind.seq < seq);
    if (!isUndone) inForce.push(rewind);
  }
  return inForce;
}

/** Trust concerns the workspace: rewinding the conversation does not revoke it. */
function outlivesRewinds(event: Event): boolean {
  const called = isEvent(event, 'result') ? event.args.operation : event.action;
  return event.action === 'guidance' || operationNamed(called)?.outlivesRewind === true;
}
