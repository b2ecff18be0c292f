import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@belay/protocol';
import { ModelFailure } from './model.js';

/** The number of attempts, and the delays between them. */
export interface RetryPolicy {
  readonly tries: number;
  readonly firstSeconds: number;
  readonly longestSeconds: number;
  /** When a provider asks for a longer delay, there is no retry. */
  readonly longestAskedSeconds: number;
}

export const usualRetries: RetryPolicy = {
  tries: 6,
  firstSeconds: 1,
  longestSeconds: 60,
  longestAskedSeconds: 600,
};

export interface Retry {
  /** The number of the next attempt, from 2. */
  attempt: number;
  seconds: number;
  error: string;
}

/**
 * Retries until success or a final failure: temporary failures up to `policy.tries` times, a reply without content
 * once more. Rejects with the last failure, or the abort's reason.
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  attempt: () => Promise<T>,
  { signal, onRetry }: { signal: AbortSignal; onRetry: (retry: Retry) => Promise<void> },
): Promise<T> {
  let empty = 0;
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      // A spent budget aborts the call, so its error is the cause.
      if (error instanceof AppError) throw error;
      signal.throwIfAborted();
      if (!(error instanceof ModelFailure)) throw error;
      if (error.kind === 'empty') empty += 1;
      const again =
        error.kind === 'retry' ? tried < policy.tries : error.kind === 'empty' && empty < 2;
      if (!again)
        throw error.kind === 'retry' ? givenUp(error, `It was tried ${tried} times`) : error;
      const seconds = waitOf(policy, tried, error.retryAfterSeconds);
      if (seconds > policy.longestAskedSeconds) {
        throw givenUp(error, `It asks to wait ${Math.ceil(seconds / 60)} minutes`);
      }
      await onRetry({ attempt: tried + 1, seconds, error: error.message });
      await delay(seconds * 1000, undefined, { signal });
    }
  }
}

const givenUp = ({ message }: ModelFailure, why: string): ModelFailure =>
  new ModelFailure('fatal', `${message} ${why}: write to the session to try again.`);

/** Doubles with each attempt, half of it random, so that many sessions do not retry at the same time. */
function waitOf(policy: RetryPolicy, tried: number, asked: number | undefined): number {
  const longest = Math.min(policy.longestSeconds, policy.firstSeconds * 2 ** (tried - 1));
  const own = longest * (0.5 + Math.random() / 2);
  return Math.round(Math.max(own, asked ?? 0) * 1000) / 1000;
}
