import { setTimeout as sleep } from 'node:timers/promises';
import {
  AppError,
  ignoreError,
  isEnded,
  newEvent,
  type NewEvent,
  type SessionSummary,
} from '@belay/protocol';

/** Milliseconds between attempts. */
const tryAgainMs = 1_000;

interface Stall {
  /** Whether only this session has reached its limit. */
  isOwn: boolean;
  since: number;
  reason: string;
  /** Who waits for space: the agent, which retries on its own, and writes of the server. */
  waiting: Set<unknown>;
}

/**
 * Sessions whose log cannot be written because the disk is full. A stall cannot be stored, so it is kept in memory and
 * shown as the session’s state.
 */
export class Stalls {
  readonly #stalls = new Map<string, Stall>();
  /** Sessions that the user stopped, while the stop is not stored yet. */
  readonly #stopped = new Set<string>();

  /** `changed` is called when a stall begins (with null) and when it ends (with its seconds). */
  constructor(private readonly changed: (session: string, seconds: number | null) => void) {}

  /** Whether the disk is full, not only the budget of a session. */
  get any(): boolean {
    return [...this.#stalls.values()].some(({ isOwn }) => !isOwn);
  }

  /** Runs a write. After `disk_full`, the session is stalled until a write has another outcome. */
  async watch<T>(session: string, who: unknown, work: () => Promise<T>): Promise<T> {
    try {
      const done = await work();
      this.release(session, who);
      return done;
    } catch (error) {
      if (isDiskFull(error)) this.#begin(session, who, error);
      else this.release(session, who);
      throw error;
    }
  }

  /**
   * Repeats a write while the disk is full, so `work` must be repeatable. Throws the errors of `work`, and
   * `disk_full` when `signal` aborts.
   */
  async whenSpace<T>(session: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const who = Symbol(session);
    try {
      for (;;) {
        try {
          return await this.watch(session, who, work);
        } catch (error) {
          if (!isDiskFull(error) || signal?.aborted) throw error;
        }
        const pause = sleep(tryAgainMs, undefined, { ref: false, ...(signal && { signal }) });
        await pause.catch(ignoreError('the next try throws what aborted it'));
      }
    } finally {
      this.release(session, who);
    }
  }

  /** Like `whenSpace`, for a session whose agent was stopped; its state is shown at once. */
  async stopWhenSpace(session: string, stop: () => Promise<unknown>): Promise<void> {
    this.#stopped.add(session);
    if (this.#stalls.has(session)) this.changed(session, null);
    try {
      await this.whenSpace(session, stop);
    } finally {
      this.#stopped.delete(session);
      // The stopped agent no longer waits.
      this.forget(session);
    }
  }

  /** One waiter has ended. */
  release(session: string, who: unknown): void {
    const stall = this.#stalls.get(session);
    if (!stall?.waiting.delete(who) || stall.waiting.size > 0) return;
    this.#stalls.delete(session);
    this.changed(session, (Date.now() - stall.since) / 1000);
  }

  forget(session: string): void {
    this.#stalls.delete(session);
  }

  /** The summary with the stall as its state. */
  shown(summary: SessionSummary): SessionSummary {
    const stall = this.#stalls.get(summary.id);
    if (!stall || isEnded(summary.state)) return summary;
    if (this.#stopped.has(summary.id)) {
      const reason = `Stopped by the user. ${stall.reason} Then this is stored.`;
      return { ...summary, state: 'stopped', current: null, reason };
    }
    return {
      ...summary,
      state: 'waiting',
      current: null,
      reason: `${stall.reason} Then it continues automatically.`,
    };
  }

  #begin(session: string, who: unknown, { message, details }: AppError): void {
    const known = this.#stalls.get(session);
    if (known) return void known.waiting.add(who);
    const isOwn = details?.['session'] === session;
    const stall = { isOwn, since: Date.now(), reason: message, waiting: new Set([who]) };
    this.#stalls.set(session, stall);
    this.changed(session, null);
  }
}

/** Stored once there is space again, after so many seconds. */
export const stalledEvent = (seconds: number): NewEvent =>
  newEvent('server', 'stalled', {
    args: { seconds },
    message: `The disk was full for ${Math.ceil(seconds)} s; what happened meanwhile is stored now.`,
  });

export const isDiskFull = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'disk_full';
