import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { SessionRemoval } from '../session-removal.js';
import { EventFollowers } from './event-followers.js';
import { followedNotices, type Follower, type SendAll } from './follower.js';
import { TerminalFollowers, type TerminalStarts } from './terminal-followers.js';

/** The sources of what followers receive: events, terminals and notices. */
@Injectable()
export class FeedSources {
  constructor(
    readonly log: EventLog,
    readonly terminals: TerminalLog,
    readonly live: TransientNotices,
    readonly removal: SessionRemoval,
  ) {}
}

export interface FeedRequest {
  session: string;
  /** The `seq` of the last event that the follower has. */
  after: number;
  terminals: TerminalStarts | 'none';
}

export interface FeedOptions<F extends Follower> {
  /** The number of sessions that one follower may follow at once. */
  maxSessions: number;
  sendAll: SendAll<F>;
}

interface SessionFeed<F extends Follower> {
  events: EventFollowers<F>;
  terminals: TerminalFollowers<F>;
}

/**
 * The followers of one API and the sessions that each follows. Events and bytes arrive without gaps or repetition from
 * the requested position; unstored notices arrive as they happen.
 */
export class SessionFollowers<F extends Follower> {
  readonly #feeds = new Map<string, SessionFeed<F>>();
  readonly #followed = new Map<F, Set<string>>();
  readonly #endings: (() => void)[];

  constructor(
    private readonly sources: FeedSources,
    private readonly options: FeedOptions<F>,
  ) {
    const { live, removal } = sources;
    const forwarded = followedNotices.map((name) => this.#forward(live, name));
    this.#endings = [...forwarded, removal.onRemoved((session) => this.#gone(session))];
  }

  /**
   * Starts sending a session, and replaces an earlier request of the follower for it. Throws errors meant for the
   * caller.
   */
  async add(follower: F, { session, after, terminals }: FeedRequest): Promise<void> {
    const { lastSeq } = await this.sources.log.summary(session);
    if (after > lastSeq) {
      throw new AppError(
        'invalid_input',
        `The log ends at event ${lastSeq}. Watch from there or before.`,
      );
    }
    if (!follower.isOpen) return;
    const followed = this.#followed.get(follower) ?? new Set();
    const { maxSessions } = this.options;
    if (!followed.has(session) && followed.size >= maxSessions) throw tooManySessions(maxSessions);
    this.#followed.set(follower, followed.add(session));
    const feed = this.#feed(session);
    feed.events.add(follower, after);
    if (terminals === 'none') feed.terminals.remove(follower);
    else feed.terminals.add(follower, terminals);
  }

  /** Stops sending a session to the follower, or all sessions if none is named. */
  remove(follower: F, session?: string): void {
    const followed = this.#followed.get(follower);
    for (const each of session === undefined ? (followed ?? []) : [session]) {
      if (!followed?.delete(each)) continue;
      const feed = this.#feeds.get(each);
      feed?.events.remove(follower);
      feed?.terminals.remove(follower);
      if (feed?.events.size === 0) this.#close(each);
    }
    if (followed?.size === 0) this.#followed.delete(follower);
  }

  close(): void {
    for (const end of this.#endings) end();
    for (const session of this.#feeds.keys()) this.#close(session);
    this.#followed.clear();
  }

  #feed(session: string): SessionFeed<F> {
    const known = this.#feeds.get(session);
    if (known) return known;
    const { log, terminals } = this.sources;
    const failed = (follower: F, error: unknown): void => {
      this.remove(follower, session);
      follower.failed(session, error);
    };
    const feed = {
      events: new EventFollowers<F>(session, log, { sendAll: this.options.sendAll, failed }),
      terminals: new TerminalFollowers<F>(session, terminals, failed),
    };
    this.#feeds.set(session, feed);
    return feed;
  }

  #forward(live: TransientNotices, name: (typeof followedNotices)[number]): () => void {
    const forward = (notice: { session: string }): void => {
      const followers = this.#feeds.get(notice.session)?.events.followers() ?? [];
      const ready = [...followers].filter((follower) => !follower.isCongested);
      if (ready.length > 0) this.options.sendAll(ready, name, notice as never);
    };
    live.on(name, forward);
    return () => live.off(name, forward);
  }

  #gone(session: string): void {
    const followers = [...(this.#feeds.get(session)?.events.followers() ?? [])];
    for (const follower of followers) {
      this.remove(follower, session);
      follower.gone(session, new AppError('not_found', 'The session was deleted.'));
    }
  }

  #close(session: string): void {
    const feed = this.#feeds.get(session);
    this.#feeds.delete(session);
    feed?.events.close();
    feed?.terminals.close();
  }
}

const tooManySessions = (max: number): AppError =>
  new AppError(
    'limit_reached',
    `At most ${max} sessions can be followed at once. Unwatch some first.`,
  );
