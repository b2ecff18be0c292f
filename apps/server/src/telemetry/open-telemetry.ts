import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import {
  context,
  diag,
  DiagLogLevel,
  logs,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Meter,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import {
  defaultResource,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { FinishedSpan } from './finished-span.js';

export type { Meter, ObservableResult } from '@opentelemetry/api';

/** What is on; where it goes, and how, the SDK reads from the standard variables `OTEL_…`. */
export interface OpenTelemetryOptions {
  version: string;
  traces: boolean;
  metrics: boolean;
  /** Gets what the SDK has to say about itself, such as that a receiver does not respond. */
  log: (level: 'warn' | 'error', message: string) => void;
  /** Whether the SDK logs by itself, because `OTEL_LOG_LEVEL` is set. */
  logsItself: boolean;
  /** Whether `OTEL_NODE_RESOURCE_DETECTORS` says what is told about the process. */
  choosesDetectors: boolean;
}

/** A scope with its version, as the receivers show it. */
const scope = 'belay';
/** Series of one metric; further ones are counted together, so that no names can fill the memory. */
const mostSeries = 500;
/** Receivers answer with anything. */
const longestMessage = 500;

/**
 * The SDK of OpenTelemetry, set up by the standard variables; the only file that imports it. It is loaded only when it
 * is on, from a file of its own in the bundle, because a server without it should neither read nor keep it.
 */
export class OpenTelemetry {
  readonly meter: Meter;
  readonly #sdk: NodeSDK;
  readonly #tracer: Tracer;
  readonly #ids: NextIds;

  constructor(private readonly options: OpenTelemetryOptions) {
    const { version, choosesDetectors } = options;
    this.#ids = new NextIds();
    const service = resourceFromAttributes({
      'service.name': scope,
      'service.version': version,
      'host.name': hostname(),
    });
    this.#sdk = new NodeSDK({
      resource: defaultResource().merge(service),
      // Those of the process would tell paths and the name of its user.
      ...(!choosesDetectors && {
        resourceDetectors: [serviceInstanceIdDetector, envDetector],
      }),
      ...(!options.traces && { spanProcessors: [] }),
      ...(!options.metrics && { metricReaders: [] }),
      logRecordProcessors: [],
      textMapPropagator: null,
      idGenerator: this.#ids,
      views: [{ instrumentName: '*', aggregationCardinalityLimit: mostSeries }],
    });
    this.#logBriefly();
    this.#sdk.start();
    this.meter = metrics.getMeter(scope, version);
    this.#tracer = trace.getTracer(scope, version);
  }

  /** Hands a span on. It waits in a queue of limited length, and is dropped if that is full. */
  write(span: FinishedSpan): void {
    const { kind, name, attributes, begun, ended, error } = span;
    const parent = this.#contextOf(span);
    this.#ids.next = idsOf(span.session, span.root, span.key);
    const written = this.#tracer.startSpan(
      name,
      {
        kind: kind === 'request' ? SpanKind.CLIENT : SpanKind.INTERNAL,
        startTime: new Date(begun),
        attributes: { ...attributes, ...(error !== null && { 'error.type': error }) },
      },
      parent,
    );
    // Without a message, because those of errors quote paths and texts.
    if (error !== null) written.setStatus({ code: SpanStatusCode.ERROR });
    written.end(new Date(ended));
  }

  /** Sends what waits. Resolves in any case, also if the receiver never answers: see `withinMs`. */
  async shutdown(withinMs: number): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, withinMs).unref());
    await Promise.race([this.#sdk.shutdown(), late]).catch((error: unknown) =>
      this.options.log('warn', String(error).slice(0, longestMessage)),
    );
    for (const api of [trace, metrics, logs, context, propagation, diag]) api.disable();
  }

  /** The parent’s context. Whether a trace is sampled depends on its id alone, so a stand-in for its root tells it. */
  #contextOf({ session, root, parent }: FinishedSpan): Context {
    if (parent === null) return ROOT_CONTEXT;
    this.#ids.next = idsOf(session, root, root);
    const standIn: Span = this.#tracer.startSpan(scope, {}, ROOT_CONTEXT);
    const { spanId } = idsOf(session, root, parent);
    return trace.setSpanContext(ROOT_CONTEXT, { ...standIn.spanContext(), spanId });
  }

  /** Passes the messages of the SDK on: short ones, and each once until another one comes. */
  #logBriefly(): void {
    const { log, logsItself } = this.options;
    if (logsItself) return;
    let last = '';
    const tell = (level: 'warn' | 'error') => (message: unknown) => {
      const text = `OpenTelemetry: ${sentenceOf(message)}`.slice(0, longestMessage);
      if (text === last) return;
      last = text;
      log(level, text);
    };
    const nothing = () => undefined;
    const logger = { error: tell('error'), warn: tell('warn'), info: nothing, debug: nothing };
    const settings = { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true };
    diag.setLogger({ ...logger, verbose: nothing }, settings);
  }
}

/** The SDK writes errors as JSON with their stack. */
function sentenceOf(message: unknown): string {
  const text = String(message);
  try {
    const error = JSON.parse(text) as { message?: string } | null;
    return error?.message ?? text;
  } catch {
    return text;
  }
}

interface Ids {
  traceId: string;
  spanId: string;
}

/** The SDK asks for the ids of the span that is written. */
class NextIds {
  next: Ids = { traceId: '', spanId: '' };
  generateTraceId = (): string => this.next.traceId;
  generateSpanId = (): string => this.next.spanId;
}

/** The ids by which receivers know a trace and its spans: the same after a restart. */
const idsOf = (session: string, root: string, key: string): Ids => ({
  traceId: digest(`${session} ${root}`).slice(0, 32),
  spanId: digest(`${session} ${root} ${key}`).slice(0, 16),
});

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
