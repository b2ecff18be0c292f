import { Injectable } from '@nestjs/common';
import {
  AppError,
  fact,
  type Budgets,
  type ModelChoice,
  type ModelReply,
  type ModelRequest,
  type NewEvent,
  type ProviderChange,
  type ProviderName,
  type Usage,
} from '@belay/protocol';
import { BlobStore } from '../logs/blob-store.js';
import { EventLog } from '../logs/event-log.js';
import { Live } from '../logs/live.js';
import { wallSeconds } from '../logs/wall-time.js';
import { limitFact, limitReached, spentBudget, type SpentBudget } from '../logs/budgets.js';
import { readCassette } from './cassette/cassette-file.js';
import { modelChoices } from './choices.js';
import { localModels } from './local-models.js';
import { ModelFailure, type Model, type ModelOutput } from './model.js';
import { parseModelName } from './model-name.js';
import { openModel, scriptFile } from './open-model.js';
import { checkBudgets, knownPrice } from './known-price.js';
import { dollarsOf } from './prices.js';
import { ProviderKeys } from './provider-keys.js';
import { usualRetries, withRetries, type Retry, type RetryPolicy } from './retry.js';
import { readScript } from './scripted/script.js';

export interface Trial {
  text: string;
  seconds: number;
}

const trialSeconds = 60;
const trialRequest: ModelRequest = {
  purpose: 'turn',
  messages: [{ role: 'user', text: 'Answer with the one word “ready”.', images: [] }],
  operations: [],
};

/** Every call of a model goes through here: budgets, retries, usage, and the text that streams to the viewers. */
@Injectable()
export class ModelGateway {
  /** Tests wait less. */
  retries: RetryPolicy = usualRetries;
  private readonly models = new Map<string, Model>();

  constructor(
    private readonly keys: ProviderKeys,
    private readonly events: EventLog,
    private readonly live: Live,
    private readonly blobs: BlobStore,
  ) {}

  /**
   * Calls the session's model. Throws `AppError`: limit_reached before a call that a budget forbids (and during
   * one that the time runs out for), context_overflow, model_failed after the last try, cancelled when `signal`
   * aborts. Text that streamed before a `retry` event does not count.
   */
  async generate(
    session: string,
    request: ModelRequest,
    options: { signal: AbortSignal },
  ): Promise<ModelReply> {
    const { model: name, secondsLeft } = await this.admit(session);
    const timer = timeBudget(secondsLeft);
    const signal = AbortSignal.any([options.signal, timer.signal]);
    try {
      const once = () => this.callOnce(session, name, { request, signal });
      const onRetry = (retry: Retry) => this.tellRetry(session, retry);
      return await withRetries(this.retries, once, { signal, onRetry });
    } catch (error) {
      if (options.signal.aborted)
        throw new AppError('cancelled', 'The call of the model was cancelled.');
      if (timer.signal.aborted) throw await this.outOfTime(session);
      throw reported(error);
    } finally {
      timer.clear();
    }
  }

  /**
   * Throws one sentence (invalid_input, not_found, unavailable) when a session could not use this model, or could
   * not keep these budgets with it.
   */
  async check(model: string, budgets?: Budgets): Promise<void> {
    if (budgets) checkBudgets(model, budgets, this.keys.setup);
    const address = parseModelName(model);
    if (address.kind === 'scripted') await readScript(scriptFile(address.file, this.keys.setup));
    else if (address.kind === 'provider') openModel(model, this.keys.setup);
    else if (address.record === null) await readCassette(address.file);
    else await this.check(address.record);
  }

  /** One short call, so that a person sees that key and model work. Throws what a session would meet. */
  async trial(model: string): Promise<Trial> {
    await this.check(model);
    const begun = performance.now();
    const signal = AbortSignal.timeout(trialSeconds * 1000);
    try {
      const output = await openModel(model, this.keys.setup).generate(trialRequest, {
        session: 'trial',
        tools: [],
        signal,
        delta: () => undefined,
        blob: (id) => this.blobs.get(id),
      });
      return {
        text: output.text.trim().slice(0, 200),
        seconds: (performance.now() - begun) / 1000,
      };
    } catch (error) {
      if (!signal.aborted) throw reported(error);
      throw new AppError('timeout', `${model} did not answer within ${trialSeconds} seconds.`);
    }
  }

  /** Keys and addresses of providers changed: what was opened with the old ones is opened anew. */
  async setProvider(name: ProviderName, change: ProviderChange): Promise<void> {
    await this.keys.set(name, change);
    for (const model of this.models.keys()) {
      if (parseModelName(model).kind === 'provider') this.models.delete(model);
    }
  }

  /** The models that a person may choose, those that can be called now first. */
  choices(): Promise<ModelChoice[]> {
    return modelChoices(this.keys.setup, () => localModels(this.keys.setup));
  }

  /** Throws `limit_reached`, with its event, when a budget is spent. */
  private async admit(session: string): Promise<{ model: string; secondsLeft: number | null }> {
    const summary = await this.events.summary(session);
    const { budgets, model, wallTime } = summary;
    const spent = spentBudget(summary);
    if (spent) throw await this.tellLimit(session, spent);
    checkBudgets(model, budgets, this.keys.setup);
    if (budgets.seconds === null) return { model, secondsLeft: null };
    return { model, secondsLeft: budgets.seconds - wallSeconds(wallTime, Date.now()) };
  }

  private async tellLimit(session: string, spent: SpentBudget): Promise<AppError> {
    await this.tell(session, limitFact(spent));
    return limitReached(spent);
  }

  private async outOfTime(session: string): Promise<AppError> {
    const { budgets, wallTime } = await this.events.summary(session);
    const used = wallSeconds(wallTime, Date.now());
    // A person may just have raised it; what was promised to this call is over.
    const limit = budgets.seconds ?? used;
    return this.tellLimit(session, { budget: 'seconds', limit, used });
  }

  private async callOnce(
    session: string,
    name: string,
    { request, signal }: { request: ModelRequest; signal: AbortSignal },
  ): Promise<ModelReply> {
    const { mcp: tools } = await this.events.settings(session);
    const output = await this.modelNamed(name).generate(request, {
      session,
      tools,
      signal,
      delta: (kind, text) => {
        // A summary is for the model: viewers see it as a `compact` event.
        if (request.purpose === 'turn') this.live.delta(session, kind, text);
      },
      blob: (id) => this.blobs.get(id),
    });
    // An empty reply is paid for, too.
    const usage = await this.tellUsage(session, name, output);
    if (output.finish === 'filter') throw withheld(name, output);
    if (output.text.trim() === '' && output.calls.length === 0) throw emptyReply(name, output);
    return { ...output, usage };
  }

  private modelNamed(name: string): Model {
    const known = this.models.get(name);
    if (known) return known;
    const model = openModel(name, this.keys.setup);
    this.models.set(name, model);
    return model;
  }

  private async tellRetry(session: string, retry: Retry): Promise<void> {
    const message = `${retry.error} Trying again in ${retry.seconds} s.`;
    await this.tell(session, fact('server', 'retry', { args: retry, message }));
  }

  private async tellUsage(session: string, model: string, output: ModelOutput): Promise<Usage> {
    const { input, cached, output: written } = output.usage;
    const dollars = dollarsOf(knownPrice(model, this.keys.setup), output.usage);
    const usage = { inputTokens: input, cachedTokens: cached, outputTokens: written, dollars };
    const args = { ...usage, model, contextTokens: input, contextWindow: output.contextTokens };
    const cost = dollars === null ? '' : `, $${dollars.toFixed(4)}`;
    const message = `${input} tokens in (${cached} cached), ${written} out${cost}.`;
    await this.tell(session, fact('server', 'usage', { args, message }));
    return usage;
  }

  /** A reply that was paid for is not given up for a full disk. */
  private async tell(session: string, event: NewEvent): Promise<void> {
    await this.events.stalls.whenRoom(session, () => this.events.append(session, [event]));
  }
}

/** What it had begun to say may not be gone on from: the provider would refuse that again. */
function withheld(model: string, { text }: ModelOutput): ModelFailure {
  const said = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return new ModelFailure(
    'fatal',
    `${model} refused to answer, or its content filter withheld the reply${said && ` after “${said}”`}. Rewind to an earlier step, put it differently, or use another model.`,
  );
}

function emptyReply(model: string, { finish }: ModelOutput): ModelFailure {
  if (finish === 'length') {
    return new ModelFailure(
      'empty',
      `${model} reached its limit of length before it said anything.`,
    );
  }
  return new ModelFailure('empty', `${model} answered with nothing.`);
}

function reported(error: unknown): unknown {
  if (!(error instanceof ModelFailure)) return error;
  const code = error.kind === 'overflow' ? 'context_overflow' : 'model_failed';
  return new AppError(code, error.message);
}

/** Aborts when the time is over; a timer holds at most 24 days. */
function timeBudget(seconds: number | null): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  if (seconds === null || seconds > 2_000_000)
    return { signal: controller.signal, clear: () => {} };
  const timer = setTimeout(() => controller.abort(), seconds * 1000);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
