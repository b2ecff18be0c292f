import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { keepConnections } from '../../keep-connections.js';

export interface ProviderRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  /** The body as received. */
  text: string;
}

export type ProviderAnswer = (response: ServerResponse) => void;

/**
 * Stands in for a language model’s provider: returns the given answers in order, in its real wire
 * format.
 */
export class ProviderServer {
  readonly requests: ProviderRequest[] = [];
  /** How it answers each request for its models; null if it has no list, and such requests are not recorded. */
  models: ProviderAnswer | null = null;
  /** Answers requests for which no answer is left. */
  otherwise: (request: ProviderRequest) => ProviderAnswer = () =>
    failedResponse(418, { error: { message: 'no answer left' } });
  /** Resolves when a client has disconnected before its answer was complete. */
  readonly abandoned = Promise.withResolvers<void>();
  readonly #answers: ProviderAnswer[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      response.once('close', () => {
        if (!response.writableFinished) this.abandoned.resolve();
      });
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isList = request.url?.endsWith('/models') ?? false;
        if (isList && !this.models) return void response.writeHead(404).end('{}');
        const body = text ? (JSON.parse(text) as Record<string, unknown>) : {};
        const received = { path: request.url ?? '', headers: request.headers, body, text };
        this.requests.push(received);
        const answer = (isList ? this.models : this.#answers.shift()) ?? this.otherwise(received);
        answer(response);
      });
    });
    keepConnections(this.#server);
  }

  static async open(): Promise<ProviderServer> {
    const provider = new ProviderServer();
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  answer(...answers: ProviderAnswer[]): void {
    this.#answers.push(...answers);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/**
 * `cut`: the connection breaks after the events; `open`: it stays open, and nothing more is sent.
 */
export function streaming(
  events: readonly string[],
  end: 'end' | 'cut' | 'open' = 'end',
): ProviderAnswer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const body = events.join('');
    // In small pieces, so that events and characters are split across them.
    const bytes = Buffer.from(body);
    for (let at = 0; at < bytes.length; at += 37) response.write(bytes.subarray(at, at + 37));
    if (end === 'end') response.end();
    else if (end === 'cut') setImmediate(() => response.destroy());
  };
}

/** A provider’s list of models, in the format of most. */
export const modelList = (...models: object[]): ProviderAnswer =>
  failedResponse(200, { data: models });

/** Resets the connection before the first byte of an answer. */
export const resetting: ProviderAnswer = (response) => void response.socket?.resetAndDestroy();

export function failedResponse(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ProviderAnswer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}
