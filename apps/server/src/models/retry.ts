import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@belay/protocol';
import { ModelFailure } from './model.js';

/** How often a call is tried, and how long is waited between. */
export interface RetryPolicy {
  readonly tries: number;
  readonly firstSeconds: number;
  readonly longestSeconds: number;
  /** A provider that asks for more than this is not waited for. */
  readonly longestAskedSeconds: number;
}

export const usualRetries: RetryPolicy = {
  tries: 6,
  firstSeconds: 1,
  longestSeconds: 60,
  longestAskedSeconds: 600,
};

export interface Retry {
  /** Which try comes next, from 2. */
  attempt: number;
  seconds: number;
  error: string;
}

/**
 * Tries until it succeeds or fails for good: passing failures up to `policy.tries` times, a reply without content
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
      // A spent budget is the cause of the abort that its event brings about.
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

/** Doubles from try to try; half of it is chance, so that many sessions do not come back at once. */
function waitOf(policy: RetryPolicy, tried: number, asked: number | undefined): number {
  const longest = Math.min(policy.longestSeconds, policy.firstSeconds * 2 ** (tried - 1));
  const own = longest * (0.5 + Math.random() / 2);
  return Math.round(Math.max(own, asked ?? 0) * 1000) / 1000;
}
