import { allRoutes, AppError, NewestMap } from '@belay/protocol';
import type { Request } from 'express';
import type { Caller } from '../../access/caller.js';
import { routesAt } from '../routes-at.js';
import { TokenBucket, type RequestRate } from './token-bucket.js';

/** The limit of counted callers and addresses; the least recent one is dropped. */
const maxCounted = 10_000;

/** So many items of a list count as one request: about 100 kB. */
const itemsOfRequest = 100;

type CountedRequest = Pick<Request, 'socket' | 'method' | 'path'>;

/** Far above the needs of a dashboard, or of a program that waits for its responses. */
const rateOf = (perSecond: number): RequestRate => ({ perSecond, burst: perSecond * 10 });

/** The routes that are open to all: a secret in the body of one may be right, whatever else comes from its address. */
const openRoutes = allRoutes.filter(({ access, method }) => access === 'open' && method !== 'GET');

/**
 * Limits the API requests of each caller, over all connections together, and of each address without a valid token, by
 * kind: each open route that takes a secret is one, and all other requests are another. Requests are counted before
 * their body is read.
 */
export class RequestRates {
  readonly #buckets = new NewestMap<string, TokenBucket>(maxCounted);

  /** `perSecond` is for callers that may do more than view; 0 means no limit. */
  constructor(
    private readonly perSecond: number,
    private readonly now?: () => number,
  ) {}

  /** Throws `limit_reached`, with the time of the next attempt in its details. */
  count(caller: Caller | undefined, request: CountedRequest): void {
    if (this.perSecond === 0) return;
    const { socket, method, path } = request;
    const isSlow = !caller || caller.scope === 'view';
    const open = routesAt(path, openRoutes).find((route) => route.method === method);
    const kind = open ? `${method} ${open.path}` : '';
    const key = caller?.id ?? `address:${socket.remoteAddress} ${kind}`;
    const perSecond = isSlow ? Math.ceil(this.perSecond / 4) : this.perSecond;
    const bucket = this.#bucket(key, rateOf(perSecond));
    take(bucket, 1);
    counted.set(request, bucket);
  }

  #bucket(key: string, rate: RequestRate): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(rate, this.now);
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/** The buckets that the requests were counted in. */
const counted = new WeakMap<CountedRequest, TokenBucket>();

/** Counts a list as so many requests as it is long. Throws like `count`, before anything of the list is written. */
export function countItems(request: CountedRequest, items: number): void {
  const more = Math.ceil(items / itemsOfRequest) - 1;
  const bucket = counted.get(request);
  if (bucket && more > 0) take(bucket, more);
}

function take(bucket: TokenBucket, count: number): void {
  const seconds = bucket.take(count);
  if (seconds === 0) return;
  const retryAfter = Math.ceil(seconds);
  const sentence = `Too many requests at once: try again in ${retryAfter} s.`;
  throw new AppError('limit_reached', sentence, { retryAfter });
}

/** The `Retry-After` header for such an error; undefined for other errors. */
export function retryAfterOf({ code, details }: AppError): string | undefined {
  const seconds = details?.['retryAfter'];
  return code === 'limit_reached' && typeof seconds === 'number' ? String(seconds) : undefined;
}
