import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { SessionRemoval } from '../session-removal.js';
import { EventFollowers } from './event-followers.js';
import type { FeedRequest } from './feed-request.js';
import { followedNotices, type Follower, type SendAll } from './follower.js';
import { RemoteFollowers } from './remote-followers.js';
import { TerminalFollowers } from './terminal-followers.js';

/** The sources of what followers receive: events, terminals and notices, of this server and of others. */
@Injectable()
export class FeedSources {
  constructor(
    readonly log: EventLog,
    readonly terminals: TerminalLog,
    readonly live: TransientNotices,
    readonly removal: SessionRemoval,
    readonly remote: RemoteFollowers,
  ) {}
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
    const { live, log, removal } = sources;
    const forwarded = followedNotices.map((name) => this.#forward(live, name));
    this.#endings = [
      ...forwarded,
      removal.onRemoved((session) => this.#gone(session)),
      log.onMoved((session) => this.#moved(session)),
    ];
  }

  /**
   * Starts sending a session, and replaces an earlier request of the follower for it. Throws errors meant for the
   * caller.
   */
  async add(follower: F, request: FeedRequest): Promise<void> {
    const { session } = request;
    const isElsewhere = (await this.sources.remote.find(session)) !== undefined;
    if (!isElsewhere) await this.#require(request);
    if (!follower.isOpen) return;
    const followed = this.#followed.get(follower) ?? new Set();
    const { maxSessions } = this.options;
    if (!followed.has(session) && followed.size >= maxSessions) throw tooManySessions(maxSessions);
    this.#followed.set(follower, followed.add(session));
    if (!isElsewhere) return this.#addHere(follower, request);
    this.#removeHere(follower, session);
    try {
      await this.#addElsewhere(follower, request);
    } catch (error) {
      this.remove(follower, session);
      throw error;
    }
  }

  /** Stops sending a session to the follower, or all sessions if none is named. */
  remove(follower: F, session?: string): void {
    const followed = this.#followed.get(follower);
    for (const each of session === undefined ? (followed ?? []) : [session]) {
      if (followed?.delete(each)) this.#removeHere(follower, each);
    }
    if (followed?.size === 0) this.#followed.delete(follower);
    this.sources.remote.remove(follower, session);
  }

  close(): void {
    for (const end of this.#endings) end();
    for (const session of this.#feeds.keys()) this.#close(session);
    this.#followed.clear();
  }

  async #require({ session, after }: FeedRequest): Promise<void> {
    const { lastSeq } = await this.sources.log.summary(session);
    if (after <= lastSeq) return;
    throw new AppError(
      'invalid_input',
      `The log ends at event ${lastSeq}. Watch from there or before.`,
    );
  }

  #addHere(follower: F, { session, after, terminals }: FeedRequest): void {
    this.sources.remote.remove(follower, session);
    const feed = this.#feed(session);
    feed.events.add(follower, after);
    if (terminals === 'none') feed.terminals.remove(follower);
    else feed.terminals.add(follower, terminals);
    // It may have moved while it was added.
    this.#moved(session);
  }

  #removeHere(follower: F, session: string): void {
    const feed = this.#feeds.get(session);
    feed?.events.remove(follower);
    feed?.terminals.remove(follower);
    if (feed?.events.size === 0) this.#close(session);
  }

  #addElsewhere(follower: F, request: FeedRequest): Promise<void> {
    const { session } = request;
    return this.sources.remote.add(follower, request, {
      local: (rest) => this.#addHere(follower, rest),
      gone: (error) => {
        this.remove(follower, session);
        follower.gone(session, error);
      },
      failed: (error) => this.#failed(follower, session, error),
    });
  }

  /** Followers of a session that another server works on from now on are sent the rest by that server. */
  #moved(session: string): void {
    if (!this.#feeds.has(session)) return;
    const followers = (): F[] => [...(this.#feeds.get(session)?.events.followers() ?? [])];
    const failed = (follower: F) => (error: unknown) => this.#failed(follower, session, error);
    this.sources.remote
      .find(session)
      .then((server) => {
        for (const follower of server ? followers() : []) {
          const rest = this.#rest(follower, session);
          this.#removeHere(follower, session);
          this.#addElsewhere(follower, rest).catch(failed(follower));
        }
      })
      .catch((error: unknown) => {
        for (const follower of followers()) failed(follower)(error);
      });
  }

  #rest(follower: F, session: string): FeedRequest {
    const { events, terminals } = this.#feed(session);
    return { session, after: events.after(follower), terminals: terminals.starts(follower) };
  }

  #failed(follower: F, session: string, error: unknown): void {
    this.remove(follower, session);
    follower.failed(session, error);
  }

  #feed(session: string): SessionFeed<F> {
    const known = this.#feeds.get(session);
    if (known) return known;
    const { log, terminals } = this.sources;
    const failed = (follower: F, error: unknown): void => this.#failed(follower, session, error);
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
