import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  ignoreError,
  type Answer,
  type ViewerRequests,
} from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';
import { PeerWatch } from '../../peers/peer-watch.js';
import { SessionServers } from '../../peers/session-servers.js';
import type { LiveServer } from '../../storage/live-servers.js';
import type { FeedRequest } from './feed-request.js';
import type { Follower } from './follower.js';
import { PeerLink } from './peer-link.js';
import { PeerSockets } from './peer-sockets.js';
import { RemoteWatch } from './remote-watch.js';

/** How long a session is looked for whose server has ended, in milliseconds: longer than others need to take it. */
const takeoverMs = 20_000;
const lookAgainMs = 200;

/** What happens to a session that is followed at another server; after each, it is no longer followed there. */
export interface RemoteEnds {
  /** This server has it now: the follower is sent the rest from here. */
  local(rest: FeedRequest): void;
  gone(error: AppError): void;
  /** Nobody could be asked in time. */
  failed(error: unknown): void;
}

interface Followed {
  watch: RemoteWatch;
  ends: RemoteEnds;
  /** Undefined while a server is asked. */
  at: { server: string; link: PeerLink } | undefined;
}

/** One follower at other servers: a connection to each, in its own name. */
interface Remote {
  links: Map<string, PeerLink>;
  followed: Map<string, Followed>;
  /** The last of the attempts to follow a session, which are made one after another. */
  placing: Map<string, Promise<void>>;
  /** Who is being asked for the server of a session. */
  looking: Map<string, Promise<PeerLink | undefined>>;
}

/**
 * The followers of sessions that other servers own. Each continues where it is when its connection breaks, and when
 * another server takes the session.
 */
@Injectable()
export class RemoteFollowers implements OnModuleDestroy {
  readonly #remotes = new Map<Follower, Remote>();
  readonly #closing = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(
    private readonly log: EventLog,
    private readonly servers: SessionServers,
    private readonly sockets: PeerSockets,
    private readonly watch: PeerWatch,
  ) {
    this.#unsubscribe = log.onMoved((session) => this.#moved(session));
  }

  onModuleDestroy(): void {
    this.#closing.abort();
    this.#unsubscribe();
    for (const follower of this.#remotes.keys()) this.remove(follower);
  }

  /**
   * The other server that has a session, if any. While nobody has one whose server has ended, it waits; then it throws
   * `unavailable`.
   */
  find(session: string): Promise<LiveServer | undefined> {
    return this.#untilServed(() => this.servers.other(session));
  }

  /**
   * Follows a session at the server that has it, instead of an earlier request for it. Throws errors meant for the caller;
   * later ones are told to `ends`.
   */
  async add(follower: Follower, request: FeedRequest, ends: RemoteEnds): Promise<void> {
    const { session } = request;
    if (!follower.isOpen) return;
    const remote = this.#of(follower);
    this.#unfollow(remote, session)?.leave(session);
    const followed: Followed = { watch: new RemoteWatch(follower, request), ends, at: undefined };
    remote.followed.set(session, followed);
    try {
      await this.#placeInTurn(follower, followed);
    } catch (error) {
      if (followed.watch.isClosed) return;
      this.#forget(remote, followed);
      throw error;
    }
  }

  /**
   * Sends a session to the follower whenever another server has it, from where `request` says then. Returns a function
   * that ends it, and all else that the follower follows.
   */
  keep(follower: Follower, session: string, request: () => Promise<FeedRequest>): () => void {
    let isStopped = false;
    const ends = {
      local: () => {},
      gone: (error: AppError) => follower.gone(session, error),
      failed: (error: unknown) => follower.failed(session, error),
    };
    const look = async (): Promise<void> => {
      if (!(await this.find(session)) || isStopped) return;
      if (this.#remotes.get(follower)?.followed.has(session)) return;
      const wanted = await request();
      if (!isStopped) await this.add(follower, wanted, ends);
    };
    const start = (): void =>
      void look().catch((error: unknown) => {
        if (!isStopped) follower.failed(session, error);
      });
    const unsubscribe = this.log.onMoved((id) => id === session && start());
    start();
    return () => {
      isStopped = true;
      unsubscribe();
      this.remove(follower);
    };
  }

  /** Stops sending a session to the follower, or all sessions if none is named. */
  remove(follower: Follower, session?: string): void {
    const remote = this.#remotes.get(follower);
    if (!remote) return;
    if (session !== undefined) return this.#leave(remote, session);
    this.#remotes.delete(follower);
    for (const { watch } of remote.followed.values()) watch.isClosed = true;
    remote.followed.clear();
    for (const link of remote.links.values()) link.close();
  }

  /**
   * The answer of the other server that has the session of the request; undefined if none has it. Throws `unavailable`
   * without an answer, when it is unknown whether it was done.
   */
  async request<K extends keyof ViewerRequests>(
    follower: Follower,
    name: K,
    input: ViewerRequests[K] & { session: string },
  ): Promise<Answer<object> | undefined> {
    const link = await this.#linkOf(follower, input.session);
    return link?.request(name, input);
  }

  /** After earlier attempts to follow the session, so that the end of none of these ends a later one. */
  async #placeInTurn(follower: Follower, followed: Followed): Promise<void> {
    const { placing } = this.#of(follower);
    const { watch } = followed;
    const { session } = watch;
    const before = placing.get(session);
    const work = async (): Promise<void> => {
      await before?.catch(ignoreError('whoever asked for it is told'));
      if (!watch.isClosed) await this.#place(follower, followed);
    };
    const placed = work();
    placing.set(session, placed);
    try {
      await placed;
    } finally {
      if (placing.get(session) === placed) placing.delete(session);
    }
  }

  /** Follows from where the watch is. Throws `unavailable` when no server could be asked in time, and other errors at once. */
  #place(follower: Follower, followed: Followed): Promise<void> {
    const { watch, ends } = followed;
    const { session } = watch;
    return this.#untilServed(async () => {
      const server = await this.servers.other(session);
      // Throws `not_found` for one that was deleted, which nobody may have told.
      if (!server) await this.log.summary(session);
      if (watch.isClosed) return;
      if (!server) {
        this.#forget(this.#of(follower), followed);
        return ends.local(watch.request);
      }
      const link = this.#link(follower, server);
      await link.watch(watch, {
        gone: (error) => this.#end(follower, followed, error),
        broken: () => this.#again(follower, followed),
      });
      if (watch.isClosed) return link.leave(session);
      followed.at = { server: server.id, link };
      // It may have broken as it answered.
      if (link.isClosed) return this.#again(follower, followed);
      for (const { name, input } of follower.shown?.(session) ?? [])
        void link.ask(name, input).catch(ignoreError('it is told again when it breaks'));
      // It may have moved while it was asked for.
      void this.#check(follower, followed);
    });
  }

  async #untilServed<T>(work: () => Promise<T>): Promise<T> {
    const end = performance.now() + takeoverMs;
    const { signal } = this.#closing;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isTemporary(error) || performance.now() > end || signal.aborted) throw error;
      }
      await delay(lookAgainMs, undefined, { ref: false, signal }).catch(
        ignoreError('it is closed'),
      );
    }
  }

  #again(follower: Follower, followed: Followed): void {
    // Whoever asks for it already asks again.
    if (followed.watch.isClosed || !followed.at) return;
    followed.at = undefined;
    this.#placeInTurn(follower, followed).catch((error: unknown) =>
      this.#end(follower, followed, error),
    );
  }

  #end(follower: Follower, followed: Followed, error: unknown): void {
    const { watch, ends } = followed;
    const remote = this.#remotes.get(follower);
    if (watch.isClosed || !remote) return;
    this.#forget(remote, followed);
    if (error instanceof AppError && error.code === 'not_found') ends.gone(errorFrom(error));
    else ends.failed(error);
  }

  #moved(session: string): void {
    for (const [follower, { followed }] of this.#remotes) {
      const found = followed.get(session);
      if (found) void this.#check(follower, found);
    }
  }

  /** Asks elsewhere if another server has the session than the one that was asked. */
  async #check(follower: Follower, followed: Followed): Promise<void> {
    const { session } = followed.watch;
    const { at } = followed;
    if (!at) return;
    const found = await this.servers.other(session).catch(ignoreError('its server has ended'));
    if (followed.at !== at || found?.id === at.server) return;
    at.link.leave(session);
    this.#again(follower, followed);
  }

  #leave(remote: Remote, session: string): void {
    this.#unfollow(remote, session);
    // Also those that know only what it shows.
    for (const link of remote.links.values()) link.leave(session);
  }

  /** Returns the connection over which it was followed. */
  #unfollow(remote: Remote, session: string): PeerLink | undefined {
    const followed = remote.followed.get(session);
    if (followed) this.#forget(remote, followed);
    return followed?.at?.link;
  }

  #forget({ followed }: Remote, one: Followed): void {
    one.watch.isClosed = true;
    const { session } = one.watch;
    if (followed.get(session) === one) followed.delete(session);
  }

  /** The connection to the server that has a session; undefined if it is this one. */
  async #linkOf(follower: Follower, session: string): Promise<PeerLink | undefined> {
    if (!follower.isOpen) return undefined;
    const { followed, looking } = this.#of(follower);
    // What is asked meanwhile, such as the next key, waits for the same answer, and so keeps its order.
    const asked = looking.get(session);
    if (asked) return asked;
    const { at } = followed.get(session) ?? {};
    if (at) return at.link;
    const look = async (): Promise<PeerLink | undefined> => {
      try {
        const server = await this.servers.other(session);
        return server && follower.isOpen ? this.#link(follower, server) : undefined;
      } finally {
        looking.delete(session);
      }
    };
    const found = look();
    looking.set(session, found);
    return found;
  }

  #link(follower: Follower, server: LiveServer): PeerLink {
    const { links } = this.#of(follower);
    const known = links.get(server.id);
    if (known) return known;
    const closed = new EventEmitter();
    const link = new PeerLink(this.sockets.open(server, follower.caller), follower, () => {
      if (links.get(server.id) === link) links.delete(server.id);
      closed.emit('close');
    });
    links.set(server.id, link);
    this.watch.add(server.id, {
      destroy: () => link.close(),
      once: (event, listener) => closed.once(event, listener),
    });
    return link;
  }

  #of(follower: Follower): Remote {
    const known = this.#remotes.get(follower);
    if (known) return known;
    const made: Remote = {
      links: new Map(),
      followed: new Map(),
      placing: new Map(),
      looking: new Map(),
    };
    this.#remotes.set(follower, made);
    return made;
  }
}

/** Whether another try may succeed. */
const isTemporary = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'unavailable' || error.code === 'limit_reached');
