import { AppError, ownValue } from '@belay/protocol';

interface LimitedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

/** GitHub asks for at least a minute after a secondary limit that names no time. */
const usualWaitMs = 60_000;
const longestWaitMs = 3_600_000;

/**
 * The error for an answer that says that the host wants no more requests, with `retryAfterMs` in its details. GitHub uses
 * 403 for it as well, which otherwise means that the token may not.
 */
export function hostLimit(host: string, answer: LimitedAnswer): AppError | undefined {
  if (!isLimit(answer)) return undefined;
  const retryAfterMs = waitOf(answer);
  return new AppError(
    'limit_reached',
    `${host} refuses requests with this token for ${Math.ceil(retryAfterMs / 1000)} seconds.`,
    { host, retryAfterMs },
  );
}

/**
 * How long a host wants to be left alone after a list was read, in milliseconds; null if it does not say. With few requests
 * left, that is until there are more.
 */
export function pollDelayOf(answer: LimitedAnswer): number | null {
  const { headers } = answer;
  const interval = secondsIn(headers, 'x-poll-interval');
  const left =
    numberIn(headers, 'x-ratelimit-remaining') ?? numberIn(headers, 'ratelimit-remaining');
  const of = numberIn(headers, 'x-ratelimit-limit') ?? numberIn(headers, 'ratelimit-limit');
  const isScarce = left !== undefined && of !== undefined && left < of * 0.15;
  const reset = isScarce ? untilReset(headers) : undefined;
  const longest = Math.max(interval ?? 0, reset ?? 0);
  return longest > 0 ? Math.min(longest, longestWaitMs) : null;
}

function isLimit({ status, headers, body }: LimitedAnswer): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return (
    headers['retry-after'] !== undefined ||
    headers['x-ratelimit-remaining'] === '0' ||
    /rate limit/i.test(messageOf(body))
  );
}

const messageOf = (body: unknown): string => {
  const { message } = (body ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : '';
};

function waitOf({ headers }: LimitedAnswer): number {
  const wait = secondsIn(headers, 'retry-after') ?? dateIn(headers, 'retry-after');
  const isUsedUp =
    headers['x-ratelimit-remaining'] === '0' || headers['ratelimit-remaining'] === '0';
  const found = wait ?? (isUsedUp ? untilReset(headers) : undefined) ?? usualWaitMs;
  return Math.min(Math.max(found, 1_000), longestWaitMs);
}

/** By the host’s own clock if it says the time, because the reset is a time of that clock. */
function untilReset(headers: LimitedAnswer['headers']): number | undefined {
  const at =
    numberIn(headers, 'x-ratelimit-reset') ?? numberIn(headers, 'ratelimit-reset') ?? undefined;
  if (at === undefined) return undefined;
  const now = Date.parse(headers['date'] ?? '') || Date.now();
  return Math.max(0, at * 1000 - now);
}

function dateIn(headers: LimitedAnswer['headers'], name: string): number | undefined {
  const text = ownValue(headers, name) ?? '';
  const at = text.endsWith(' GMT') ? Date.parse(text) : NaN;
  const now = Date.parse(headers['date'] ?? '') || Date.now();
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function numberIn(headers: LimitedAnswer['headers'], name: string): number | undefined {
  const text = ownValue(headers, name);
  return text !== undefined && /^\d{1,12}$/.test(text.trim()) ? Number(text) : undefined;
}

const secondsIn = (headers: LimitedAnswer['headers'], name: string): number | undefined => {
  const seconds = numberIn(headers, name);
  return seconds === undefined ? undefined : seconds * 1000;
};
