import {
  AppError,
  errorFrom,
  ignoreError,
  type Answer,
  type ViewerNotices,
  type ViewerRequests,
} from '@belay/protocol';
import type { TransientNoticeMap } from '../../logs/transient-notices.js';
import { followedNotices, type Follower } from './follower.js';
import { pauseReading, resumeReading, type PeerSocket } from './peer-sockets.js';
import type { RemoteWatch } from './remote-watch.js';

/** How long another server may take to answer, in milliseconds. */
const answerMs = 30_000;

/** Told about a session that is followed over a link. */
export interface WatchEnds {
  gone(error: AppError): void;
  /** The link has ended: what the follower lacks has to be asked for again. */
  broken(): void;
}

interface Watching extends WatchEnds {
  watch: RemoteWatch;
}

/**
 * One follower’s connection to another server. What the follower does not accept at once waits here, in order, and nothing
 * more is read meanwhile, so that the other server holds it back.
 */
export class PeerLink {
  readonly #watching = new Map<string, Watching>();
  readonly #connected = Promise.withResolvers<void>();
  #held: (() => void)[] = [];
  /** The sessions that were left, until nothing more of them can arrive. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  /** The sessions about which something was asked since they were left. */
  readonly #known = new Set<string>();
  /** Requests without an answer so far. */
  #asked = 0;
  #hasLeft = false;
  #isClosed = false;

  constructor(
    private readonly socket: PeerSocket,
    private readonly follower: Follower,
    private readonly ended: () => void,
  ) {
    this.#connected.promise.catch(ignoreError('those who wait for it are told'));
    socket.once('connect', () => this.#connected.resolve());
    socket.once('connect_error', () => this.close());
    socket.once('disconnect', () => this.close());
    this.#listen();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Begins to follow a session from where `watch` is. Throws errors of the other server, and `unavailable`. */
  async watch(watch: RemoteWatch, ends: WatchEnds): Promise<void> {
    const { session } = watch;
    const watching = { watch, ...ends };
    await this.#whileInUse(async () => {
      await this.#leaving.get(session);
      if (watch.isClosed) return;
      this.#watching.set(session, watching);
      try {
        const { terminals } = await this.ask('watch', watch.request);
        if (terminals) watch.begin(terminals as Record<string, number>);
      } catch (error) {
        this.#forget(session, watching);
        throw error;
      }
    });
  }

  /** Leaves a session, and closes the connection if it is of no more use. */
  leave(session: string): void {
    this.#hasLeft = true;
    if (!this.#known.has(session)) return this.#closeIfUnused();
    this.#watching.delete(session);
    const left = this.ask('unwatch', { session }).catch(ignoreError('it has ended anyway'));
    this.#known.delete(session);
    this.#leaving.set(session, left);
    void left.then(() => {
      if (this.#leaving.get(session) === left) this.#leaving.delete(session);
    });
  }

  /** Throws errors of the other server, and `unavailable` like `request`. */
  async ask<K extends keyof ViewerRequests>(
    name: K,
    input: ViewerRequests[K],
  ): Promise<Record<string, unknown>> {
    const answer = await this.request(name, input);
    if (!answer.ok) throw errorFrom(answer.error);
    return answer.value;
  }

  /** The answer of the other server. Throws `unavailable` without one, when it is unknown whether it was done. */
  async request<K extends keyof ViewerRequests>(
    name: K,
    input: ViewerRequests[K],
  ): Promise<Answer<Record<string, unknown>>> {
    if ('session' in input) this.#known.add(input.session);
    return this.#whileInUse(async () => {
      await this.#connected.promise;
      if (this.#isClosed) throw broken();
      const asked = this.socket.timeout(answerMs).emitWithAck(name, ...([input] as never));
      return (await asked.catch(() => {
        throw broken();
      })) as Answer<Record<string, unknown>>;
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connected.reject(broken());
    this.#held = [];
    const watching = [...this.#watching.values()];
    this.#watching.clear();
    this.socket.disconnect();
    this.ended();
    for (const each of watching) each.broken();
  }

  async #whileInUse<T>(work: () => Promise<T>): Promise<T> {
    this.#asked += 1;
    try {
      return await work();
    } finally {
      this.#asked -= 1;
      this.#closeIfUnused();
    }
  }

  #forget(session: string, watching: Watching | undefined): void {
    this.#hasLeft = true;
    if (this.#watching.get(session) !== watching) return;
    this.#watching.delete(session);
    this.#known.delete(session);
  }

  #closeIfUnused(): void {
    if (this.#hasLeft && this.#asked === 0 && this.#known.size === 0) this.close();
  }

  #listen(): void {
    const { socket, follower } = this;
    socket.on('events', (notice) => {
      const watching = this.#watching.get(notice.session);
      this.#inOrder(() => watching?.watch.events(notice));
    });
    socket.on('terminal', (notice, received) => {
      const watching = this.#watching.get(notice.session);
      this.#inOrder(() => void Promise.resolve(watching?.watch.bytes(notice)).finally(received));
    });
    for (const name of followedNotices) {
      const show = (notice: { session: string }): void => {
        if (this.#isBusy || !this.#watching.has(notice.session)) return;
        follower.send(name, notice as never);
      };
      socket.on(name, show as ViewerNotices[typeof name]);
    }
    socket.on('frame', ({ jpeg, ...notice }) => {
      const frame: TransientNoticeMap['frame'][0] = { ...notice, jpeg: new Uint8Array(jpeg) };
      if (!this.#isBusy) follower.showFrame?.(frame);
    });
    socket.on('gone', ({ session, error }) => {
      const watching = this.#watching.get(session);
      this.#inOrder(() => {
        this.#forget(session, watching);
        watching?.gone(errorFrom(error));
        this.#closeIfUnused();
      });
    });
  }

  get #isBusy(): boolean {
    return this.#held.length > 0 || this.follower.isCongested;
  }

  #inOrder(deliver: () => void): void {
    if (!this.#isBusy) return deliver();
    this.#held.push(deliver);
    if (this.#held.length === 1) void this.#whenDrained();
  }

  async #whenDrained(): Promise<void> {
    const { follower, socket } = this;
    pauseReading(socket);
    while (this.#held.length > 0) {
      while (follower.isOpen && follower.isCongested) await follower.drained();
      if (!follower.isOpen) return this.close();
      // It stays the first of those held while it is delivered, so that nothing overtakes it.
      this.#held[0]?.();
      this.#held.shift();
    }
    resumeReading(socket);
  }
}

const broken = (): AppError =>
  new AppError(
    'unavailable',
    'The connection to the server of this session broke: check whether this was done, or try again.',
  );
