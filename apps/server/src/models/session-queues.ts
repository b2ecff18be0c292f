import { AppError } from '@belay/protocol';
import { Mutex } from 'async-mutex';

/** Calls that may wait for the current one; a new call may arrive before an aborted one has ended. */
const maxWaiting = 2;

/** Runs the calls of each session one after the other, so that each sees the usage of the previous one. */
export class SessionQueues {
  readonly #queues = new Map<string, { mutex: Mutex; calls: number }>();

  /** Throws `unavailable` when too many calls wait, and the reason of `signal` when it aborts before the turn. */
  async run<T>(session: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(session) ?? { mutex: new Mutex(), calls: 0 };
    if (queue.calls > maxWaiting) {
      throw new AppError(
        'unavailable',
        'A model call of this session is already running. Make one call at a time.',
      );
    }
    queue.calls += 1;
    this.#queues.set(session, queue);
    try {
      return await queue.mutex.runExclusive(() => {
        signal.throwIfAborted();
        return work();
      });
    } finally {
      queue.calls -= 1;
      if (queue.calls === 0) this.#queues.delete(session);
    }
  }
}
