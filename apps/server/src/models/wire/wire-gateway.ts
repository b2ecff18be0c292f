import type { Duplex } from 'node:stream';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  ignoreError,
  isEvent,
  type EventOf,
  type StreamMeta,
  type SessionSummary,
} from '@belay/protocol';
import { ApprovalService } from '../../approvals/approval.service.js';
import { EventLog } from '../../logs/event-log.js';
import { SessionsStore } from '../../logs/sessions.store.js';
import { whileWorking } from '../../logs/while-working.js';
import { Database } from '../../storage/database.js';
import { checkBudgets, knownPrice, knownWindow } from '../known-price.js';
import { dollarsOf } from '../prices.js';
import { providerApi } from '../provider-apis.js';
import { ProviderKeys } from '../provider-keys.js';
import { Admission, type RequestUsage, type Reservation } from './admission.js';
import { assertHostedTools } from './hosted-tools.js';
import { BodyBudget } from './body-budget.js';
import { RequestFields } from './json-fields.js';
import { permittedModel, permittedProvider, type PermittedModel } from './permitted-model.js';
import { callFormats } from './call-formats.js';
import { pingFrame, type CallJudge } from './call-judge.js';
import { callProvider } from './call-provider.js';
import { passReply } from './pass-reply.js';
import { ReplacedCalls } from './replaced-calls.js';
import { restored } from './restored.js';
import type { HeldCall } from './held-call.js';
import { readBytes, requestBody, type RequestBody } from './request-body.js';
import { UsageMeter } from './usage-meter.js';
import type { WireFormat, WireRequest } from './wire-format.js';
import { wireFormats } from './wire-formats.js';
import { providerHeaders } from './wire-headers.js';
import { ProgramReply } from './program-reply.js';
import { formatAt, streamsEvents, wireRoute, type WireRoute } from './wire-route.js';

/** The most tokens that are reserved for a reply; most are far shorter than their limit. */
const mostReservedOutput = 8_192;

type ModelStream = StreamMeta<'model'>;

/** A request that is passed on. */
interface Passed {
  session: string;
  route: WireRoute;
  format: WireFormat;
  provider: string;
  meta: ModelStream;
  reply: ProgramReply;
  judge: CallJudge;
}

/** A request for a reply of a model. */
interface Generation extends Passed {
  body: RequestBody;
  request: WireRequest;
  model: PermittedModel;
}

/**
 * Passes requests of programs in sandboxes on to the provider of their session’s model: with the server’s key, within
 * the session’s budgets, and otherwise unchanged, byte for byte, in both directions.
 */
@Injectable()
export class WireGateway implements BeforeApplicationShutdown {
  /** Milliseconds until a client whose stream does not begin gets signs of life. */
  waitMs = 10_000;
  /** Milliseconds that other clients wait for the end of a pause. */
  pauseTimeoutMs = 60_000;
  readonly #logger = new Logger(WireGateway.name);
  readonly #admission: Admission;
  readonly #bodies = new BodyBudget();
  readonly #replaced: ReplacedCalls;
  #judge: CallJudge | undefined;
  readonly #open = new Map<Duplex, Promise<void>>();
  /** The models of sessions whose last prompt was mostly cached. */
  readonly #cached = new Set<string>();

  constructor(
    private readonly keys: ProviderKeys,
    private readonly log: EventLog,
    private readonly store: SessionsStore,
    private readonly database: Database,
    private readonly approvals: ApprovalService,
  ) {
    this.#admission = new Admission(log);
    this.#replaced = new ReplacedCalls(log, store, database);
  }

  /** Until then, nothing is passed on. */
  decideBy(judge: CallJudge): void {
    this.#judge = judge;
  }

  /** Requests that were under way when the session’s earlier server ended count as they were estimated. */
  async settleOpen({ id, openRequests }: SessionSummary): Promise<void> {
    if (openRequests === 0) return;
    await this.#admission
      .settleOpen(id, () => this.#unsettled(id))
      .catch((error: unknown) =>
        this.#logger.warn(
          `Requests of session ${id} were not settled: ${errorFrom(error).message}`,
        ),
      );
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const stream of this.#open.keys()) stream.destroy();
    await Promise.all(this.#open.values());
  }

  /** Answers one request; failures are answers, too. */
  async serve(session: string, meta: ModelStream, stream: Duplex): Promise<void> {
    const serving = this.#serve(session, meta, stream);
    this.#open.set(stream, serving);
    await serving.finally(() => this.#open.delete(stream));
  }

  async #serve(session: string, meta: ModelStream, stream: Duplex): Promise<void> {
    const reply = new ProgramReply(stream);
    const route = wireRoute(meta.method, meta.path);
    const format = wireFormats[route?.format ?? formatAt(meta.path)];
    try {
      if (!route)
        throw new AppError('not_found', `Belay does not pass on ${meta.method} ${meta.path}.`);
      const judge = this.#judge;
      if (!judge) throw new AppError('unavailable', 'The server is starting.');
      const settings = await this.log.settings(session);
      const provider = permittedProvider(settings, route.format);
      this.#admission.count(session);
      const passed = { session, route, format, provider, meta, reply, judge };
      if (route.kind === 'list')
        await this.#whileWorking(passed, (signal) => this.#pass(passed, signal));
      else await this.#withBody(passed, stream);
      reply.end();
    } catch (error) {
      if (!(error instanceof AppError) && !reply.closed.aborted) this.#logger.error(error);
      await reply.fail(error, format).catch(ignoreError('the client is gone'));
    } finally {
      // Whatever the client still sends is not read.
      stream.once('finish', () => stream.destroy()).resume();
    }
  }

  async #withBody(passed: Passed, stream: Duplex): Promise<void> {
    const { session, route, format, provider, meta } = passed;
    const share = this.#bodies.open(session);
    try {
      const body = await requestBody(
        await readBytes(stream, (bytes) => share.take(bytes)),
        meta.headers['content-encoding'],
      );
      const request = format.read(new RequestFields(body.json), route);
      const settings = await this.log.settings(session);
      const [model] = request.models.map((name) => permittedModel(settings, provider, name));
      if (!model) throw new AppError('invalid_input', 'The request names no model.');
      await assertHostedTools(
        { log: this.log, approvals: this.approvals, session },
        request.hosted,
      );
      const text = restored(body.text, route.format, await this.#replaced.of(session));
      const sent = { ...passed, body: { ...body, text } };
      const isKeptAlive = request.isStream && streamsEvents(route);
      const stop = isKeptAlive ? await this.#keepAlive(passed) : () => {};
      const work = (signal: AbortSignal) =>
        route.kind === 'count'
          ? this.#pass(sent, signal)
          : this.#generate({ ...sent, request, model }, signal);
      await this.#whileWorking(passed, work, { isKeptAlive }).finally(stop);
    } finally {
      share.release();
    }
  }

  /** A stream may wait for the end of a pause, or for budgets that others hold. */
  async #keepAlive({ session, reply, format, judge }: Passed): Promise<() => void> {
    const kind = await judge.pingOf({ session });
    return reply.whileWaiting(pingFrame(format.name, kind), this.waitMs);
  }

  #whileWorking(
    { session, reply }: Passed,
    work: (signal: AbortSignal) => Promise<void>,
    { isKeptAlive = false } = {},
  ): Promise<void> {
    const pauseTimeoutMs = isKeptAlive ? undefined : this.pauseTimeoutMs;
    const limits = { signal: reply.closed, inPause: 'wait', pauseTimeoutMs } as const;
    return whileWorking(this.log, session, { ...limits, work });
  }

  /** A request that costs nothing. */
  async #pass(passed: Passed & { body?: RequestBody }, signal: AbortSignal): Promise<void> {
    const response = await this.#call(passed, signal);
    await passed.reply.begin(response.head);
    for await (const part of response.parts) await passed.reply.write(part.bytes);
  }

  async #generate(generation: Generation, signal: AbortSignal): Promise<void> {
    const { session, format, body, request, reply, model } = generation;
    const output = reservedOutput(request);
    const meter = new UsageMeter(format, {
      prompt: body.tokens,
      // Nothing of such a reply is seen before its end.
      unseen: request.isStream ? 0 : output,
    });
    const reservation = await this.#reserve(generation, output, signal);
    // Whatever happens, the provider may have begun.
    let outcome: 'complete' | 'cut' | 'failed' = 'cut';
    const settle = () => this.#settle(session, model, { reservation, meter, outcome });
    try {
      const response = await this.#call(generation, signal).catch((error: unknown) => {
        if (!signal.aborted) outcome = 'failed';
        throw error;
      });
      await passReply(response, {
        ...(await this.#judged(generation, signal)),
        reply,
        seen: (message) => meter.see(message),
        // A question may be open for hours, and other requests wait for what is reserved.
        read: () => {
          outcome = response.isError ? 'failed' : 'complete';
          return settle();
        },
      });
    } finally {
      await settle();
    }
  }

  /** How the calls in a reply are decided. */
  async #judged({ session, format, request, judge }: Generation, signal: AbortSignal) {
    const judged = { session, format: format.name, offered: request.tools, signal };
    const pause = { signal, inPause: 'wait', work: async () => {} } as const;
    return {
      format: callFormats[format.name],
      ping: pingFrame(format.name, await judge.pingOf(judged)),
      working: () => whileWorking(this.log, session, pause),
      signal,
      decide: async (call: HeldCall) => {
        const { id, refusal } = await judge.decide(judged, call);
        if (refusal) await this.#replaced.add(session, id, { ...judged, call, refusal });
        return refusal;
      },
      delivered: () => judge.delivered(judged),
      brokeOff: (calls: readonly string[]) => judge.brokeOff(judged, calls),
    };
  }

  async #reserve(
    generation: Generation,
    output: number,
    signal: AbortSignal,
  ): Promise<Reservation> {
    const { session, route, request, model, body } = generation;
    const { budgets } = await this.log.settings(session);
    checkBudgets(model.name, budgets, this.keys.setup);
    const input = body.tokens;
    const cached = this.#cached.has(`${session} ${model.name}`) ? input : 0;
    const price = knownPrice(model.name, this.keys.setup);
    const dollars = dollarsOf(price, { input, cached, cacheWrite: input - cached, output });
    const asked = {
      format: route.format,
      model: model.name,
      purpose: request.tools.length > 0 ? ('turn' as const) : ('side' as const),
      bytes: Buffer.byteLength(body.text),
      messages: request.messages,
      tools: request.tools.length,
      reserved: { inputTokens: input, outputTokens: output, dollars },
    };
    return this.#admission.admit(session, asked, signal);
  }

  async #settle(
    session: string,
    model: PermittedModel,
    call: { reservation: Reservation; meter: UsageMeter; outcome: 'complete' | 'cut' | 'failed' },
  ): Promise<void> {
    if (call.outcome === 'failed') return call.reservation.settle(noUsage);
    const { isEstimated, ...usage } = call.meter.result({
      isComplete: call.outcome === 'complete',
    });
    const key = `${session} ${model.name}`;
    if (usage.cached >= usage.input / 2) this.#cached.add(key);
    else this.#cached.delete(key);
    await call.reservation.settle({
      inputTokens: usage.input,
      cachedTokens: usage.cached,
      outputTokens: usage.output,
      dollars: dollarsOf(knownPrice(model.name, this.keys.setup), usage),
      contextWindow: knownWindow(model.name),
      ...(isEstimated && { estimated: true }),
    });
  }

  #call(
    { route, provider, meta, body, request }: Passed & Partial<Generation>,
    signal: AbortSignal,
  ) {
    const { setup } = this.keys;
    const api = providerApi(provider, setup);
    const headers = providerHeaders(meta.headers, api.headers);
    const wantsStream = request?.isStream ?? false;
    const sent = { method: meta.method, headers, body: body?.text, wantsStream, signal };
    const secret = setup.providers[provider]?.key;
    return callProvider(`${api.url}${route.path}`, sent, {
      provider,
      environment: setup.environment,
      secret,
    });
  }

  async #unsettled(session: string): Promise<EventOf<'request'>['args'][]> {
    const events = await this.store.ofActions(this.database.kysely, session, {
      from: 1,
      actions: ['request', 'usage'],
    });
    const settled = new Set(
      events.flatMap((event) => (isEvent(event, 'usage') ? (event.args.request ?? []) : [])),
    );
    return events.flatMap((event) =>
      isEvent(event, 'request') && !settled.has(event.args.request) ? event.args : [],
    );
  }
}

const reservedOutput = ({ maxOutput }: WireRequest): number =>
  Math.min(maxOutput ?? mostReservedOutput, mostReservedOutput);

const noUsage: RequestUsage = {
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  dollars: 0,
  contextWindow: null,
  failed: true,
};
