import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { until } from '@belay/testing';

type Value = { stringValue?: string; intValue?: string | number; boolValue?: boolean } & {
  doubleValue?: number;
  arrayValue?: { values: Value[] };
};
interface KeyValue {
  key: string;
  value: Value;
}

/** A span as the protocol has it, with its attributes as a plain object. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code?: number; message?: string };
  attributes: Record<string, unknown>;
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes'> & { attributes: KeyValue[] })[] }[];
  }[];
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const accept: Answer = (response) =>
  response.setHeader('content-type', 'application/json').end('{}');

/** A receiver of OTLP over HTTP in JSON, on loopback. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** The attributes of the resource that sent last. */
  resource: Record<string, unknown> = {};
  /** The requests so far, also those that were not answered. */
  requests = 0;
  answer: Answer = accept;
  readonly #open = new Set<ServerResponse>();
  readonly #server = createServer((request, response) => {
    this.requests += 1;
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    this.#receive(request).then(
      () => this.answer(response, request),
      () => response.writeHead(400).end(),
    );
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Refuses what it has not answered, because a sender tries again for as long as a connection only breaks off. */
  async close(): Promise<void> {
    for (const response of this.#open) {
      if (response.headersSent) response.destroy();
      else await new Promise<void>((done) => response.writeHead(400).end(done));
    }
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The spans of a session, once there is one with this name. */
  async of(session: string, name: string): Promise<ReceivedSpan[]> {
    const found = () =>
      this.spans.filter(({ attributes }) => attributes['gen_ai.conversation.id'] === session);
    await until(`${name} was received`, () => found().some((span) => span.name === name), {
      state: () => found().map((span) => span.name),
    });
    return found();
  }

  async #receive(request: IncomingMessage): Promise<void> {
    const { resourceSpans } = (await json(request)) as ExportRequest;
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = plain(resource.attributes);
      for (const { spans } of scopeSpans)
        for (const span of spans) this.spans.push({ ...span, attributes: plain(span.attributes) });
    }
  }
}

const plain = (attributes: KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));

function plainValue(value: Value): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(plainValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue;
}
