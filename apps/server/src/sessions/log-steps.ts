import { Injectable } from '@nestjs/common';
import { AppError, isEvent, type SessionSummary } from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';

/** How many earlier commits are tried until one is found that the history still has. */
const maxCommits = 20;

/** Earlier steps of a session, and the files as they were then. */
@Injectable()
export class LogSteps {
  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
  ) {}

  /** The commit with the files as of `seq`; undefined if there is none yet. */
  async commitAt(session: string, seq: number): Promise<string | undefined> {
    const last = await this.store.latest(session, 'commit', await this.#endOf(session, seq));
    if (last && isEvent(last, 'commit')) return last.args.commit;
    const first = await this.store.first(session, 'commit');
    // The first commit without a parent records the workspace as the session found it.
    return first && isEvent(first, 'commit') ? (first.args.parent ?? first.args.commit) : undefined;
  }

  /** The plan as of `seq`, or now; empty if there was none. */
  async planAt(session: string, seq?: number): Promise<string> {
    const plan = await this.store.latest(session, 'plan', seq);
    return plan && isEvent(plan, 'plan') ? plan.args.markdown : '';
  }

  /** Some of the commits up to `seq` with the steps that wrote them, newest first; see `commitAt` for the last one. */
  async commitsUpTo(session: string, seq: number): Promise<{ commit: string; step: number }[]> {
    const found: { commit: string; step: number }[] = [];
    for (let before = await this.#endOf(session, seq); found.length < maxCommits;) {
      const event = await this.store.latest(session, 'commit', before);
      if (!event) break;
      if (isEvent(event, 'commit')) found.push({ commit: event.args.commit, step: event.seq });
      before = event.seq - 1;
    }
    if (found.length > 0) return found;
    const commit = await this.commitAt(session, seq);
    return commit === undefined ? [] : [{ commit, step: seq }];
  }

  /** The first commit, if there is one: the files that the session began with. */
  async firstCommit(session: string): Promise<{ commit: string; step: number }[]> {
    const first = await this.store.first(session, 'commit');
    return first && isEvent(first, 'commit')
      ? [{ commit: first.args.commit, step: first.seq }]
      : [];
  }

  /** A call that has its result has made its changes, although the log has their commit only after the result. */
  async #endOf(session: string, seq: number): Promise<number> {
    const next = await this.store.first(session, 'commit', seq);
    if (next?.id === undefined) return seq;
    const { events } = await this.store.ofCall(session, next.id);
    const isDone = events.some(
      (event) =>
        (isEvent(event, 'result') || isEvent(event, 'background-result')) && event.seq <= seq,
    );
    return isDone ? next.seq : seq;
  }

  /** Throws `invalid_input` for an event that the log does not have. */
  async checked(session: string, seq: number): Promise<SessionSummary> {
    const summary = await this.log.summary(session);
    if (seq <= summary.lastSeq) return summary;
    throw new AppError(
      'invalid_input',
      `The log has ${summary.lastSeq} events, not ${seq}. Name one of them.`,
    );
  }
}
