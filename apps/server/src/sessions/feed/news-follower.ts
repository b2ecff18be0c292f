import { ownerCaller } from '../../access/caller.js';
import type { FeedNotices, Follower } from './follower.js';
import type { RemoteFollowers } from './remote-followers.js';

/** Called when a session has new events or was deleted, or with the reason why that cannot be known. */
type NewsListener = (error?: unknown) => void;

/**
 * Tells that a session of another server has new events, which are then read from the database. Whoever reads them was
 * checked before. The caller closes it.
 */
export class NewsFollower implements Follower {
  readonly caller = ownerCaller;
  readonly isCongested = false;
  isOpen = true;
  #listener: NewsListener = () => {};
  #stop: (() => void) | undefined;
  #after = 0;

  constructor(
    readonly session: string,
    private readonly remote: RemoteFollowers,
  ) {}

  /** Tells a listener of events after a number until the returned function is called. */
  listen(after: number, listener: NewsListener): () => void {
    const { session } = this;
    this.#listener = listener;
    this.#after = after;
    this.#stop ??= this.remote.keep(this, session, () =>
      Promise.resolve({ session, after: this.#after, terminals: 'none' }),
    );
    return () => (this.#listener = () => {});
  }

  close(): void {
    this.isOpen = false;
    this.#stop?.();
  }

  async drained(): Promise<void> {}

  send<N extends keyof FeedNotices>(name: N): void {
    if (name === 'events') this.#listener();
  }

  async sendBytes(): Promise<void> {}

  gone(): void {
    this.#stopped();
    this.#listener();
  }

  failed(_session: string, error: unknown): void {
    this.#stopped();
    this.#listener(error);
  }

  /** The next listener begins anew. */
  #stopped(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}
