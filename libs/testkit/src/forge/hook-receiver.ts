import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedHook {
  headers: IncomingHttpHeaders;
  text: string;
  json: Record<string, unknown>;
}

/** An address that takes webhooks and keeps them. */
export class HookReceiver {
  readonly received: ReceivedHook[] = [];
  /** The status of its answers. */
  status = 202;
  readonly #server: Server = createServer((request, response) => {
    void text(request).then((body) => {
      const isJson = request.headers['content-type']?.includes('json');
      const json = isJson ? (JSON.parse(body) as Record<string, unknown>) : {};
      this.received.push({ headers: request.headers, text: body, json });
      response.writeHead(this.status).end();
    });
  });

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** The webhook that came last. */
  last(): ReceivedHook {
    const last = this.received.at(-1);
    if (last) return last;
    throw new Error('No webhook was received.');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}
