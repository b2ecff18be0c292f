import { AppError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import { Semaphore } from 'async-mutex';

/** A place does not answer faster when it is asked for more. */
const parallelLooks = 4;

/**
 * Looks for sandboxes at one place, the storage or a host: a few at a time. One that gets no answer is not repeated beside
 * it, and keeps others waiting once. All throw `unavailable` without an answer in time.
 */
export class LookLanes<T> {
  readonly #lanes = new Semaphore(parallelLooks);
  readonly #pending = new Map<string, Promise<T>>();

  /** Waits for a look for this session’s sandbox that is under way; undefined without one. */
  again(session: string, timeoutMs: number): Promise<T> | undefined {
    const pending = this.#pending.get(session);
    return pending && answered(pending, timeoutMs);
  }

  async run(session: string, look: () => Promise<T>, timeoutMs: number): Promise<T> {
    const again = () => this.again(session, timeoutMs);
    return (
      again() ??
      this.#lanes.runExclusive(() => again() ?? answered(this.#begin(session, look), timeoutMs))
    );
  }

  #begin(session: string, look: () => Promise<T>): Promise<T> {
    const pending = look().finally(() => this.#pending.delete(session));
    this.#pending.set(session, pending);
    return pending;
  }
}

function answered<T>(pending: Promise<T>, timeoutMs: number): Promise<T> {
  return inTime(pending, timeoutMs, () => {
    const seconds = timeoutMs / 1_000;
    throw new AppError(
      'unavailable',
      `A sandbox was looked for without an answer in ${seconds} s.`,
    );
  });
}
