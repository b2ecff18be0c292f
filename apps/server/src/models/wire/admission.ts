import { randomUUID } from 'node:crypto';
import { Mutex } from 'async-mutex';
import {
  AppError,
  dollarsText,
  ignoreError,
  isEnded,
  isNoStep,
  newEvent,
  numberText,
  type EventArgs,
  type SessionSummary,
} from '@belay/protocol';
import { untilAborted } from '@belay/rpc';
import { limitEvent, limitReached, spentBudget } from '../../logs/budgets.js';
import type { EventLog } from '../../logs/event-log.js';

export type RequestArgs = EventArgs<'request'>;
/** What a request has used. */
export type RequestUsage = Pick<
  EventArgs<'usage'>,
  'inputTokens' | 'cachedTokens' | 'outputTokens' | 'dollars' | 'estimated'
> & { contextWindow: number | null; failed?: boolean };

/** A request that was admitted, until it is settled. */
export interface Reservation {
  readonly request: string;
  /** Replaces what was reserved with what was used, once; later calls change nothing. */
  settle(usage: RequestUsage): Promise<void>;
}

/** Limits for one session. */
export interface AdmissionLimits {
  underWay: number;
  waiting: number;
  perMinute: number;
}

const usualLimits: AdmissionLimits = { underWay: 16, waiting: 48, perMinute: 120 };
const minuteMs = 60_000;

interface Session {
  /** Requests that wait to be admitted, the oldest first. */
  mutex: Mutex;
  waiting: number;
  underWay: Map<string, RequestArgs>;
  /** Resolves when one of them is settled. */
  settled: PromiseWithResolvers<void>;
  /** The times of the requests of the last minute. */
  times: number[];
}

/**
 * Admits requests of programs to the model within the budgets of their session: what a request may use is reserved
 * before the provider gets a byte, and what it has used is settled after. Both are events, so that a killed server makes
 * no call free.
 */
export class Admission {
  readonly #sessions = new Map<string, Session>();
  /** The requests of this process that are not settled. */
  readonly #own = new Set<string>();

  constructor(
    private readonly log: EventLog,
    private readonly limits: AdmissionLimits = usualLimits,
  ) {}

  /** Counts a request. Throws `TooManyRequests` beyond the rate of a session. */
  count(session: string): void {
    const { times } = this.#session(session);
    const now = Date.now();
    while (times[0] !== undefined && times[0] <= now - minuteMs) times.shift();
    const [oldest = now] = times;
    if (times.length >= this.limits.perMinute)
      throw new TooManyRequests(
        `This session has made ${this.limits.perMinute} model requests within a minute.`,
        Math.ceil((oldest + minuteMs - now) / 1000),
      );
    times.push(now);
  }

  /**
   * Resolves once the budgets have space for the request; until then it waits for others to be settled. The last
   * request before a limit may exceed it, so that no budget ends early. Throws `limit_reached`, and logs its event, when
   * a budget is spent, `cancelled` after the session’s end, and the reason of `signal`.
   */
  async admit(
    session: string,
    asked: Omit<RequestArgs, 'request'>,
    signal: AbortSignal,
  ): Promise<Reservation> {
    const own = this.#session(session);
    if (own.waiting >= this.limits.waiting)
      throw new TooManyRequests(`${own.waiting} model requests of this session are waiting.`, 5);
    own.waiting += 1;
    const request = { ...asked, request: randomUUID() };
    this.#own.add(request.request);
    try {
      await own.mutex.runExclusive(() => this.#whenPossible(session, request, signal));
      return this.#reservation(session, request);
    } catch (error) {
      this.#own.delete(request.request);
      throw error;
    } finally {
      own.waiting -= 1;
      this.#tidy(session);
    }
  }

  /** Settles the requests that an earlier process of the server left open, by what they had reserved. */
  async settleOpen(session: string, read: () => Promise<readonly RequestArgs[]>): Promise<void> {
    for (const request of await read())
      if (!this.#own.has(request.request))
        await this.#settle(session, request, reservedUsage(request));
  }

  async #whenPossible(session: string, request: RequestArgs, signal: AbortSignal): Promise<void> {
    const { underWay } = this.#session(session);
    for (;;) {
      signal.throwIfAborted();
      const { settled } = this.#session(session);
      if (await this.#tryOnce(session, request, signal)) {
        underWay.set(request.request, request);
        return;
      }
      await untilAborted(signal, settled.promise);
    }
  }

  /** False when the request has to wait for another one. */
  async #tryOnce(session: string, request: RequestArgs, signal: AbortSignal): Promise<boolean> {
    const open = [...this.#session(session).underWay.values()];
    let spent: ReturnType<typeof spentBudget> = null;
    const append = () =>
      this.log.append(session, (summary) => {
        if (isEnded(summary.state))
          throw new AppError('cancelled', `The session is ${summary.state}.`);
        spent = spentBudget(summary);
        // Those under way have been paid for: the session ends once they are complete.
        if (spent) return open.length > 0 ? [] : [limitEvent(spent)];
        if (open.length >= this.limits.underWay || !fits(summary, open, request)) return [];
        return [requestEvent(request)];
      });
    const stored = await this.log.stalls.whenSpace(session, append, signal);
    if (spent && open.length === 0) throw limitReached(spent);
    return stored.length > 0;
  }

  #reservation(session: string, request: RequestArgs): Reservation {
    let isSettled = false;
    return {
      request: request.request,
      settle: async (usage) => {
        if (isSettled) return;
        isSettled = true;
        try {
          await this.#settle(session, request, usage);
        } finally {
          const own = this.#session(session);
          this.#own.delete(request.request);
          own.underWay.delete(request.request);
          own.settled.resolve();
          own.settled = Promise.withResolvers();
          this.#tidy(session);
        }
      },
    };
  }

  async #settle(
    session: string,
    { model, purpose, request }: RequestArgs,
    { failed, ...usage }: RequestUsage,
  ): Promise<void> {
    const args = {
      ...usage,
      model,
      purpose: failed ? ('failed' as const) : purpose,
      request,
      contextTokens: usage.inputTokens,
    };
    const event = newEvent('server', 'usage', { args, message: usageSentence(usage, failed) });
    await this.log.stalls
      .whenSpace(session, () => this.log.append(session, [event]))
      .catch(ignoreError('the session was deleted'));
  }

  #session(session: string): Session {
    const known = this.#sessions.get(session);
    if (known) return known;
    const own = {
      mutex: new Mutex(),
      waiting: 0,
      underWay: new Map(),
      settled: Promise.withResolvers<void>(),
      times: [],
    };
    this.#sessions.set(session, own);
    return own;
  }

  #tidy(session: string): void {
    const own = this.#sessions.get(session);
    const last = own?.times.at(-1) ?? 0;
    const isIdle = own && own.waiting === 0 && own.underWay.size === 0;
    if (isIdle && last <= Date.now() - minuteMs) this.#sessions.delete(session);
  }
}

/** Answered with 429 and the time to wait. */
export class TooManyRequests extends AppError {
  constructor(
    message: string,
    readonly seconds: number,
  ) {
    super('limit_reached', `${message} Try again in ${seconds} s.`);
  }
}

/** Whether the request fits beside those under way; a lone one always does, because the budgets are not spent. */
function fits(
  summary: SessionSummary,
  open: readonly RequestArgs[],
  request: RequestArgs,
): boolean {
  if (open.length === 0) return true;
  const { budgets } = summary;
  const all = [...open, request];
  const tokens = all.reduce((sum, { reserved }) => sum + tokensIn(reserved), summary.tokens);
  const dollars = all.reduce((sum, { reserved }) => sum + (reserved.dollars ?? 0), summary.dollars);
  const steps = all.reduce(
    (use, { purpose }) =>
      isNoStep(purpose, use)
        ? { ...use, compactions: use.compactions + 1 }
        : { ...use, steps: use.steps + 1 },
    { steps: summary.steps, compactions: summary.compactions },
  ).steps;
  return (
    tokens <= (budgets.tokens ?? Infinity) &&
    dollars <= (budgets.dollars ?? Infinity) &&
    steps <= (budgets.steps ?? Infinity)
  );
}

const tokensIn = ({ inputTokens, outputTokens }: RequestArgs['reserved']): number =>
  inputTokens + outputTokens;

const reservedUsage = ({ reserved }: RequestArgs): RequestUsage => ({
  ...reserved,
  cachedTokens: 0,
  estimated: true,
  contextWindow: null,
});

function requestEvent(args: RequestArgs) {
  const { model, reserved } = args;
  const cost = reserved.dollars === null ? '' : `, ${dollarsText(reserved.dollars)}`;
  const message = `A request to ${model}: at most about ${numberText(tokensIn(reserved))} tokens${cost}.`;
  return newEvent('server', 'request', { args, message });
}

function usageSentence(
  { inputTokens, cachedTokens, outputTokens, dollars, estimated }: RequestUsage,
  failed = false,
): string {
  if (failed) return 'The provider refused the request.';
  const cost = dollars === null ? '' : `, ${dollarsText(dollars)}`;
  const how = estimated ? ' (estimated)' : '';
  return `${inputTokens} tokens in (${cachedTokens} cached), ${outputTokens} out${cost}${how}.`;
}
