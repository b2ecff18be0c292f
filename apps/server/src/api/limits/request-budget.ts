import { AppError, roleOfScope, type Role } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import { TokenBucket, type RequestRate } from './token-bucket.js';

/** Requests that a connection may send at once, and per second after that. */
const rates: Readonly<Record<Role, RequestRate>> = {
  // A program that tracks the mouse gets hundreds of movements a second.
  user: { burst: 5_000, perSecond: 1_000 },
  viewer: { burst: 200, perSecond: 20 },
};

/** The largest packet from a viewer, who sends no keys. */
export const maxViewerPacket = 64 * 1024;

/** Counts the requests of one connection. An unknown caller has the rate of a viewer. */
export class RequestBudget {
  readonly #bucket: TokenBucket;

  constructor(caller: Caller | undefined, now?: () => number) {
    const role = caller ? roleOfScope(caller.scope) : 'viewer';
    this.#bucket = new TokenBucket(rates[role], now);
  }

  /** Whether another request may be served now. */
  take(): boolean {
    return this.#bucket.take() === 0;
  }
}

export const tooManyRequests = (): AppError =>
  new AppError('limit_reached', 'Too many requests at once. Wait a moment.');
