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

  /** The commit with the files as of `seq`; undefined if no step had changed files by then. */
  async commitAt(session: string, seq: number): Promise<string | undefined> {
    const last = await this.store.latest(session, 'commit', seq);
    if (last && isEvent(last, 'commit')) return last.args.commit;
    const first = await this.store.first(session, 'commit');
    return first && isEvent(first, 'commit') ? (first.args.parent ?? undefined) : undefined;
  }

  /** Some of the commits up to `seq` with the steps that wrote them, newest first; see `commitAt` for the last one. */
  async commitsUpTo(session: string, seq: number): Promise<{ commit: string; step: number }[]> {
    const found: { commit: string; step: number }[] = [];
    for (let before = seq; found.length < maxCommits;) {
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

  /** Throws `invalid_input` for a step that the log does not have. */
  async checked(session: string, seq: number): Promise<SessionSummary> {
    const summary = await this.log.summary(session);
    if (seq <= summary.lastSeq) return summary;
    throw new AppError('invalid_input', `The log has ${summary.lastSeq} steps, not ${seq}.`);
  }
}
