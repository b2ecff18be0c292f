import { AppError } from '@belay/protocol';
import { ModelFailure } from './model.js';

/** The delays between attempts. */
export interface RetryPolicy {
  readonly firstSeconds: number;
  readonly longestSeconds: number;
  /** The longest delay that a provider may ask for. */
  readonly longestAskedSeconds: number;
}

export const usualRetries: RetryPolicy = {
  firstSeconds: 1,
  longestSeconds: 60,
  longestAskedSeconds: 86_400,
};

export interface Retry {
  /** The number of the next attempt, from 2. */
  attempt: number;
  seconds: number;
  error: string;
}

/**
 * Retries temporary failures until success or a final failure, however long that takes: the session’s budgets are the
 * limit. `wait` resolves when it is time for the next attempt. Rejects with the last failure, or the abort's reason.
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  attempt: () => Promise<T>,
  { signal, wait }: { signal: AbortSignal; wait: (retry: Retry) => Promise<void> },
): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      // A spent budget aborts the call, so its error is the cause.
      if (error instanceof AppError) throw error;
      signal.throwIfAborted();
      if (!(error instanceof ModelFailure) || error.kind !== 'retry') throw error;
      const seconds = delayOf(policy, tried, error.retryAfterSeconds);
      await wait({ attempt: tried + 1, seconds, error: error.message });
    }
  }
}

/** Doubles with each attempt, half of it random, so that many sessions do not retry at the same time. */
function delayOf(policy: RetryPolicy, tried: number, asked = 0): number {
  const longest = Math.min(policy.longestSeconds, policy.firstSeconds * 2 ** (tried - 1));
  const own = longest * (0.5 + Math.random() / 2);
  const least = Math.min(asked, policy.longestAskedSeconds);
  return Math.round(Math.max(own, least) * 1000) / 1000;
}
