import { AppError, isEnded, isEvent, type SessionState } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';

/** Limits for one session and for all together; each connection uses two file descriptors. */
export interface ConnectionLimits {
  perSession: number;
  inAll: number;
}

const usualLimits: ConnectionLimits = { perSession: 256, inAll: 2_048 };

interface Watched {
  state: SessionState | undefined;
  slots: Set<OpenSlot>;
  /** Resolves when the pause is over. */
  pause: { over: Promise<void>; end: () => void } | undefined;
}

/** A connection of a session, from its request to its end. */
export interface Slot {
  /** A promise while the session is paused. */
  gate(): Promise<void> | undefined;
  /** `close` is called when the session ends. Throws `rejected` if it has ended already. */
  onEnd(close: () => void): void;
  release(): void;
}

/**
 * Follows the states of sessions: a pause freezes their connections; an end, or a change of their network settings,
 * closes them.
 */
export class SessionConnections {
  readonly #watched = new Map<string, Watched>();
  readonly #unsubscribe: () => void;
  #count = 0;

  constructor(
    private readonly events: EventLog,
    private readonly limits: ConnectionLimits = usualLimits,
  ) {
    this.#unsubscribe = events.subscribeAll((session, added, { state }) => {
      const watched = this.#watched.get(session);
      if (!watched) return;
      // Connections allowed by the previous network settings are closed: programs connect again.
      if (added.some((event) => isEvent(event, 'change') && event.args.egress))
        for (const slot of watched.slots) slot.end();
      follow(watched, state);
    });
  }

  /** Throws `rejected` in a pause and after the end, `unavailable` when too many connections are open. */
  async open(session: string): Promise<Slot> {
    const watched = this.#watched.get(session) ?? {
      state: undefined,
      slots: new Set(),
      pause: undefined,
    };
    if (watched.slots.size >= this.limits.perSession)
      throw tooMany('This session', this.limits.perSession);
    if (this.#count >= this.limits.inAll) throw tooMany('This server', this.limits.inAll);
    this.#watched.set(session, watched);
    this.#count += 1;
    const slot = new OpenSlot(watched, () => {
      this.#count -= 1;
      if (watched.slots.size === 0) this.#watched.delete(session);
    });
    try {
      const { state } = await this.events.summary(session);
      // A state that was followed meanwhile is newer.
      if (watched.state === undefined) follow(watched, state);
      if (watched.state === 'paused') throw new AppError('rejected', pausedSentence);
      slot.onEnd(() => {});
    } catch (error) {
      slot.release();
      throw error;
    }
    return slot;
  }

  close(): void {
    this.#unsubscribe();
    for (const { pause } of this.#watched.values()) pause?.end();
  }
}

class OpenSlot implements Slot {
  #close: () => void = () => {};
  #isEnded = false;

  constructor(
    private readonly watched: Watched,
    private readonly onRelease: () => void,
  ) {
    watched.slots.add(this);
  }

  gate(): Promise<void> | undefined {
    return this.watched.pause?.over;
  }

  onEnd(close: () => void): void {
    this.#close = close;
    if (this.watched.state && isEnded(this.watched.state))
      throw new AppError('rejected', endedSentence);
    if (this.#isEnded) throw new AppError('rejected', changedSentence);
  }

  end(): void {
    this.#isEnded = true;
    this.#close();
  }

  release(): void {
    if (this.watched.slots.delete(this)) this.onRelease();
  }
}

function follow(watched: Watched, state: SessionState): void {
  watched.state = state;
  if (state === 'paused') {
    if (watched.pause) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    watched.pause = { over: promise, end: resolve };
    return;
  }
  if (isEnded(state)) for (const slot of watched.slots) slot.end();
  const { pause } = watched;
  watched.pause = undefined;
  pause?.end();
}

const pausedSentence = 'The session is paused, so its sandbox opens no connections: resume it.';
const endedSentence = 'The session has ended, so its sandbox opens no connections: restart it.';

const changedSentence = 'The network of the session was changed meanwhile: connect again.';

const tooMany = (who: string, limit: number): AppError =>
  new AppError(
    'unavailable',
    `${who} has ${limit} connections open, which is the limit: close some.`,
  );
