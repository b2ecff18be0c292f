import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, isEnded, type SessionSummary } from '@belay/protocol';

/** Milliseconds between tries. */
const tryAgainMs = 1_000;

interface Stall {
  since: number;
  reason: string;
  /** Who waits for room: the agent, which sends again by itself, and works of the server. */
  waiting: Set<unknown>;
}

/**
 * Sessions whose log cannot be written, as the disk is full. Nothing of that can be stored meanwhile, so it is kept
 * here and shown as the session's state.
 */
export class Stalls {
  private readonly stalls = new Map<string, Stall>();
  /** Sessions that a person stopped, which is not stored yet. */
  private readonly stopped = new Set<string>();

  /** `changed` is told when a stall begins (null) and when it is over, after so many seconds. */
  constructor(private readonly changed: (session: string, seconds: number | null) => void) {}

  get any(): boolean {
    return this.stalls.size > 0;
  }

  /** Runs a work that stores something; the session is stalled from its `disk_full` until it has another outcome. */
  async watch<T>(session: string, who: unknown, work: () => Promise<T>): Promise<T> {
    try {
      const done = await work();
      this.release(session, who);
      return done;
    } catch (error) {
      if (isDiskFull(error)) this.begin(session, who, error);
      else this.release(session, who);
      throw error;
    }
  }

  /**
   * Does what stores something, again and again while the disk is full. `work` may be repeated; throws what it
   * throws, and `disk_full` when `signal` aborts.
   */
  async whenRoom<T>(session: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const who = Symbol(session);
    try {
      for (;;) {
        try {
          return await this.watch(session, who, work);
        } catch (error) {
          if (!isDiskFull(error) || signal?.aborted) throw error;
        }
        const pause = sleep(tryAgainMs, undefined, { ref: false, ...(signal && { signal }) });
        await pause.catch(() => undefined);
      }
    } finally {
      this.release(session, who);
    }
  }

  /** As `whenRoom`, for a session whose agent was stopped; it is shown so at once. */
  async stopWhenRoom(session: string, stop: () => Promise<unknown>): Promise<void> {
    this.stopped.add(session);
    if (this.stalls.has(session)) this.changed(session, null);
    try {
      await this.whenRoom(session, stop);
    } finally {
      this.stopped.delete(session);
      // Its agent is gone, and waits for nothing any more.
      this.forget(session);
    }
  }

  /** Somebody waits no longer. */
  release(session: string, who: unknown): void {
    const stall = this.stalls.get(session);
    if (!stall?.waiting.delete(who) || stall.waiting.size > 0) return;
    this.stalls.delete(session);
    this.changed(session, (Date.now() - stall.since) / 1000);
  }

  forget(session: string): void {
    this.stalls.delete(session);
  }

  /** The summary as people see it now. */
  shown(summary: SessionSummary): SessionSummary {
    const stall = this.stalls.get(summary.id);
    if (!stall || isEnded(summary.state)) return summary;
    if (this.stopped.has(summary.id)) {
      const reason = `Stopped by a person. ${stall.reason} Then this is stored.`;
      return { ...summary, state: 'stopped', current: null, reason };
    }
    return {
      ...summary,
      state: 'waiting',
      current: null,
      reason: `${stall.reason} Then it goes on by itself.`,
    };
  }

  private begin(session: string, who: unknown, { message }: AppError): void {
    const stall = this.stalls.get(session);
    if (stall) return void stall.waiting.add(who);
    this.stalls.set(session, { since: Date.now(), reason: message, waiting: new Set([who]) });
    this.changed(session, null);
  }
}

export const isDiskFull = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'disk_full';
