import type { IncomingMessage } from 'node:http';
import { AppError } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import { TokenBucket, type RequestRate } from './token-bucket.js';

/** Callers and addresses that are counted at once; the one that asked longest ago makes way. */
const maxCounted = 10_000;

/** Far above what a dashboard or a program asks for that waits for its answers. */
const rateOf = (perSecond: number): RequestRate => ({ perSecond, burst: perSecond * 10 });

/**
 * The requests of the API that each caller may make, by all its tokens’ connections together, and each address without
 * a valid token. Counted before a body is read.
 */
export class RequestRates {
  readonly #buckets = new Map<string, TokenBucket>();

  /** `perSecond` is for callers that may do more than watch; 0 is no limit. */
  constructor(
    private readonly perSecond: number,
    private readonly now?: () => number,
  ) {}

  /** Throws `limit_reached`, whose details say when to try again. */
  count(caller: Caller | undefined, { socket }: Pick<IncomingMessage, 'socket'>): void {
    if (this.perSecond === 0) return;
    const isSlow = !caller || caller.scope === 'view';
    const key = caller?.id ?? `address:${socket.remoteAddress}`;
    const perSecond = isSlow ? Math.ceil(this.perSecond / 4) : this.perSecond;
    const seconds = this.#bucket(key, rateOf(perSecond)).take();
    if (seconds === 0) return;
    const retryAfter = Math.ceil(seconds);
    const sentence = `Too many requests at once: try again in ${retryAfter} s.`;
    throw new AppError('limit_reached', sentence, { retryAfter });
  }

  #bucket(key: string, rate: RequestRate): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(rate, this.now);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxCounted && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}

/** The header that goes with such a refusal; undefined for other errors. */
export function retryAfterOf({ code, details }: AppError): string | undefined {
  const seconds = details?.['retryAfter'];
  return code === 'limit_reached' && typeof seconds === 'number' ? String(seconds) : undefined;
}
