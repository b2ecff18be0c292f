import { Injectable } from '@nestjs/common';
import {
  AppError,
  isEnded,
  isKnownProvider,
  newEvent,
  wallSeconds,
  dollarsText,
  type Budgets,
  type EventArgs,
  type ModelChoice,
  type ModelReply,
  type ModelRequest,
  type NewEvent,
  type ProviderChange,
  type Usage,
} from '@belay/protocol';
import type { Caller } from '../access/caller.js';
import { BlobStore } from '../logs/blob-store.js';
import { EventLog } from '../logs/event-log.js';
import { TransientNotices } from '../logs/transient-notices.js';
import { waitsForProvider } from '../logs/waits-for-provider.js';
import { whileWorking } from '../logs/while-working.js';
import { limitEvent, limitReached, spentBudget, type SpentBudget } from '../logs/budgets.js';
import { assertMayNameModel } from './assert-may-name-model.js';
import { assertUsableModel } from './assert-usable-model.js';
import { modelChoices } from './model-choices.js';
import { ModelFailure, type Model, type ModelOutput } from './model.js';
import { parseModelName } from './model-name.js';
import { withActionTags } from './tags/action-tags.js';
import { openModel, providerRemedy } from './open-model.js';
import { checkBudgets, knownPrice } from './known-price.js';
import { dollarsOf } from './prices.js';
import { ProviderKeys } from './provider-keys.js';
import { providerModels } from './provider-models.js';
import { resumeSessionsOf } from './resume-sessions-of.js';
import { usualRetries, withRetries, type Retry, type RetryPolicy } from './retry.js';
import { waitForRetry } from './retry-wait.js';
import { SessionQueues } from './session-queues.js';
import { timeBudget } from './time-budget.js';
import { trialRequest } from './trial-request.js';
import { withheld } from './withheld.js';

export interface ModelTest {
  text: string;
  seconds: number;
}

/** The caller that names a model, and the budgets of the session that it is for. */
export interface ModelChooser {
  caller: Caller;
  budgets?: Budgets | undefined;
}

/** A request in progress, with its usage so far in case the agent cancels it. */
interface Attempt {
  readonly request: ModelRequest;
  /** When its turn in the queue came, by `performance.now`. */
  readonly begun: number;
  /** Characters of the reply so far. */
  written: number;
  /** Whether it was sent to the provider and is not counted yet. */
  underWay: boolean;
}

/** A rough estimate for all models. */
const tokensOf = (characters: number): number => Math.ceil(characters / 4);

const trialSeconds = 60;
const checkTimeoutMs = 10_000;

/** All model calls go through this gateway: budgets, retries, usage, and the text that streams to viewers. */
@Injectable()
export class ModelGateway {
  /** Tests use shorter delays. */
  retries: RetryPolicy = usualRetries;
  readonly #models = new Map<string, Model>();
  readonly #queues = new SessionQueues();

  constructor(
    private readonly keys: ProviderKeys,
    private readonly events: EventLog,
    private readonly live: TransientNotices,
    private readonly blobs: BlobStore,
  ) {
    keys.onChanged((name) => this.#setUpAnew(name));
  }

  /**
   * Calls the session's model, one call at a time. Throws `AppError`: limit_reached before a call beyond a budget (and
   * during one when the time runs out), context_overflow, model_failed for a failure that would repeat, cancelled when
   * `signal` aborts, in a pause and after the session's end. Temporary failures are retried within the budgets. Text that
   * streamed before a `retry` event does not count.
   */
  async generate(
    session: string,
    request: ModelRequest,
    { signal }: { signal: AbortSignal },
  ): Promise<ModelReply> {
    return this.#queues.run(session, signal, () => {
      const attempt = { request, begun: performance.now(), written: 0, underWay: false };
      return this.#generate(session, attempt, signal);
    });
  }

  async #generate(session: string, attempt: Attempt, asked: AbortSignal): Promise<ModelReply> {
    const { secondsLeft } = await this.#admit(session);
    const timer = timeBudget(secondsLeft);
    const work = (working: AbortSignal) => {
      const signal = AbortSignal.any([working, timer.signal]);
      const once = () => this.#callOnce(session, attempt, signal);
      const wait = (retry: Retry) => this.#waitForRetry(session, retry, signal);
      return withRetries(this.retries, once, { signal, wait });
    };
    try {
      const limits = { signal: asked, inPause: 'refuse', work } as const;
      return await whileWorking(this.events, session, limits);
    } catch (error) {
      if (asked.aborted) {
        await this.#settleCutOff(session, attempt);
        throw new AppError('cancelled', 'The model call was cancelled.');
      }
      if (timer.signal.aborted) throw await this.#outOfTime(session);
      throw reported(error);
    } finally {
      timer.clear();
    }
  }

  /**
   * Checks a model that a request names. Throws `forbidden` when its caller may not name it, and otherwise like
   * `check`. Every name of a model that comes from outside passes here.
   */
  async choose(model: string, { caller, budgets }: ModelChooser): Promise<void> {
    assertMayNameModel(caller, model);
    await this.check({ model, budgets });
  }

  /**
   * Throws one sentence (invalid_input, not_found, unavailable) when a session with this model could not use it, or
   * when these budgets could not be enforced with it.
   */
  async check({
    model,
    budgets,
  }: { model: string } & Pick<ModelChooser, 'budgets'>): Promise<void> {
    if (budgets) checkBudgets(model, budgets, this.keys.setup);
    await assertUsableModel(model, this.keys.setup);
  }

  /** One short call that shows the user whether key and model work. Throws the errors that a session would get. */
  async trial(model: string, caller: Caller): Promise<ModelTest> {
    await this.choose(model, { caller });
    const begun = performance.now();
    const output = await this.#once(model, trialRequest);
    return {
      text: output.text.trim().slice(0, 200),
      seconds: (performance.now() - begun) / 1000,
    };
  }

  /** A call outside of a session’s turns. */
  async #once(model: string, request: ModelRequest): Promise<ModelOutput> {
    const signal = AbortSignal.timeout(trialSeconds * 1000);
    try {
      return await openModel(model, this.keys.setup).generate(request, {
        session: 'trial',
        tools: [],
        actions: [],
        signal,
        delta: () => undefined,
        blob: (id) => this.blobs.get(id),
      });
    } catch (error) {
      if (!signal.aborted) throw reported(error);
      throw new AppError('timeout', `${model} did not respond within ${trialSeconds} seconds.`);
    }
  }

  /**
   * One short call of the session’s model for its user, separate from the agent: it counts in the session’s usage, but
   * not as a step. Null for a model that only plays a script. Throws like a trial, and `limit_reached`.
   */
  async draft(session: string, text: string): Promise<{ text: string; model: string } | null> {
    const summary = await this.events.summary(session);
    const { model } = summary;
    if (parseModelName(model).kind !== 'provider') return null;
    const spent = spentBudget(summary);
    if (spent) throw limitReached(spent);
    checkBudgets(model, summary.budgets, this.keys.setup);
    const begun = performance.now();
    const output = await this.#once(model, {
      purpose: 'compact',
      messages: [{ role: 'user', text, images: [] }],
      operations: [],
    });
    await this.#tellUsage(session, { model, purpose: 'draft', begun }, output);
    return { text: output.text, model };
  }

  /**
   * Applies changed keys and addresses once the provider lists its models with them, unless `unchecked`; models opened
   * with the old ones are opened again, and sessions that they had failed continue. Throws `model_failed` and keeps the
   * old ones otherwise.
   */
  async setProvider(name: string, { unchecked, ...change }: ProviderChange): Promise<void> {
    const setup = this.keys.setupWith(name, change);
    if (change.key && !isKnownProvider(name) && !setup.providers[name]?.url)
      throw new AppError(
        'invalid_input',
        `Give the address of ${name}, too: a key alone is not enough.`,
      );
    const isTried = Boolean(change.key ?? change.url) && providerRemedy(name, setup) === null;
    if (isTried && !unchecked) await providerModels(name, setup, { timeoutMs: checkTimeoutMs });
    await this.keys.set(name, change);
  }

  #setUpAnew(provider: string): Promise<void> {
    for (const model of this.#models.keys())
      if (parseModelName(model).kind === 'provider') this.#models.delete(model);
    return resumeSessionsOf(provider, this.events);
  }

  /** The models that the user may choose, those that can be called now first. */
  choices(): Promise<ModelChoice[]> {
    return modelChoices(this.keys.setup);
  }

  /** Throws `limit_reached`, and logs its event, when a budget is spent. */
  async #admit(session: string): Promise<{ model: string; secondsLeft: number | null }> {
    const summary = await this.events.summary(session);
    const { budgets, model, wallTime, state } = summary;
    const spent = spentBudget(summary);
    if (spent) throw isEnded(state) ? limitReached(spent) : await this.#tellLimit(session, spent);
    checkBudgets(model, budgets, this.keys.setup);
    if (budgets.seconds === null) return { model, secondsLeft: null };
    return { model, secondsLeft: budgets.seconds - wallSeconds(wallTime, Date.now()) };
  }

  async #tellLimit(session: string, spent: SpentBudget): Promise<AppError> {
    await this.#append(session, limitEvent(spent));
    return limitReached(spent);
  }

  async #outOfTime(session: string): Promise<AppError> {
    const { budgets, wallTime } = await this.events.summary(session);
    const used = wallSeconds(wallTime, Date.now());
    // The user may have raised the budget meanwhile, but this call’s own limit is over.
    const limit = budgets.seconds ?? used;
    return this.#tellLimit(session, { budget: 'seconds', limit, used });
  }

  /** Each attempt checks the budgets, because an earlier one may have cost something. */
  async #callOnce(session: string, attempt: Attempt, signal: AbortSignal): Promise<ModelReply> {
    const { model: name } = await this.#admit(session);
    const { request, begun } = attempt;
    const output = await this.#ask(session, name, { attempt, signal });
    // An empty reply is paid for, too.
    const call = { model: name, purpose: request.purpose, begun };
    const usage = await this.#tellUsage(session, call, output);
    attempt.underWay = false;
    if (output.finish === 'filter') throw withheld(name, output);
    return { ...output, usage };
  }

  async #ask(
    session: string,
    name: string,
    { attempt, signal }: { attempt: Attempt; signal: AbortSignal },
  ): Promise<ModelOutput> {
    const { mcp: tools, actions } = await this.events.settings(session);
    attempt.underWay = true;
    attempt.written = 0;
    try {
      const output = await this.#modelNamed(name).generate(attempt.request, {
        session,
        tools,
        actions,
        signal,
        delta: (kind, text) => {
          attempt.written += text.length;
          // A summary is meant for the model: viewers see it as a `compact` event.
          if (attempt.request.purpose === 'turn') this.live.delta(session, kind, text);
        },
        blob: (id) => this.blobs.getOf(session, id),
      });
      return attempt.request.purpose === 'turn' ? withActionTags(output, actions) : output;
    } catch (error) {
      if (!signal.aborted) attempt.underWay = false;
      throw error;
    }
  }

  /** A call that its agent cancelled costs money: it counts as a step, with an estimate of its tokens. */
  async #settleCutOff(session: string, attempt: Attempt): Promise<void> {
    const { request, begun, written, underWay } = attempt;
    const { state, model } = await this.events.summary(session);
    if (!underWay || isEnded(state)) return;
    const input = tokensOf(JSON.stringify(request.messages).length);
    const usage = { input, cached: 0, cacheWrite: 0, output: tokensOf(written) };
    const { purpose } = request;
    await this.#tellUsage(session, { model, purpose, begun }, { usage, contextTokens: null });
  }

  #modelNamed(name: string): Model {
    const known = this.#models.get(name);
    if (known) return known;
    const model = openModel(name, this.keys.setup);
    this.#models.set(name, model);
    return model;
  }

  async #waitForRetry(session: string, retry: Retry, signal: AbortSignal): Promise<void> {
    const event = newEvent('server', 'retry', { args: retry, message: waitsForProvider(retry) });
    const begin = () => this.#append(session, event);
    await waitForRetry(this.events, session, { seconds: retry.seconds, begin, signal });
  }

  async #tellUsage(
    session: string,
    { begun, ...call }: Pick<EventArgs<'usage'>, 'model' | 'purpose'> & Pick<Attempt, 'begun'>,
    output: Pick<ModelOutput, 'usage' | 'contextTokens'>,
  ): Promise<Usage> {
    const { input, cached, output: written } = output.usage;
    const dollars = dollarsOf(knownPrice(call.model, this.keys.setup), output.usage);
    const usage = { inputTokens: input, cachedTokens: cached, outputTokens: written, dollars };
    const args = {
      ...usage,
      ...call,
      seconds: (performance.now() - begun) / 1000,
      contextTokens: input,
      contextWindow: output.contextTokens,
    };
    const cost = dollars === null ? '' : `, ${dollarsText(dollars)}`;
    const message = `${input} tokens in (${cached} cached), ${written} out${cost}.`;
    await this.#append(session, newEvent('server', 'usage', { args, message }));
    return usage;
  }

  /** Waits while the disk is full, because a paid reply must not be lost. */
  async #append(session: string, event: NewEvent): Promise<void> {
    await this.events.stalls.whenSpace(session, () => this.events.append(session, [event]));
  }
}

function reported(error: unknown): unknown {
  if (!(error instanceof ModelFailure)) return error;
  const code = error.kind === 'overflow' ? 'context_overflow' : 'model_failed';
  return new AppError(code, error.message);
}
