import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';

interface Asked {
  id?: number;
  method: string;
  params?: { protocolVersion?: string };
}

/** An MCP server whose refresh tokens can be used once: a second use ends the login, as if it was stolen. */
export class RotatingServer {
  /** How often the tokens were renewed, also in vain. */
  renewals = 0;
  #number = 1;
  #isExpired = false;
  #isVoid = false;
  #refused = Promise.withResolvers<void>();
  #toRefuse = 0;
  readonly #http = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<this> {
    await once(this.#http.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  close(): void {
    this.#http.closeAllConnections();
    this.#http.close();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  get tokens() {
    const number = this.#number;
    const names = { access_token: `access-${number}`, refresh_token: `refresh-${number}` };
    return { ...names, token_type: 'Bearer' };
  }

  /** Refuses the present tokens; they are renewed once so many requests were refused. */
  expire(requests: number): void {
    this.#isExpired = true;
    this.#toRefuse = requests;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object = {}): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { method, url, headers } = request;
    if (url === '/.well-known/oauth-authorization-server') return void send(200, this.#metadata);
    if (url === '/token') {
      const token = new URLSearchParams(await text(request)).get('refresh_token');
      await this.#refused.promise;
      return void (this.#renew(token)
        ? send(200, this.tokens)
        : send(400, { error: 'invalid_grant' }));
    }
    if (method !== 'POST' || url !== '/mcp') return void send(method === 'GET' ? 405 : 404);
    const asked = (await json(request)) as Asked;
    const isKnown = headers.authorization === `Bearer ${this.tokens.access_token}`;
    if (!isKnown || this.#isExpired || this.#isVoid) {
      this.#toRefuse -= 1;
      if (this.#toRefuse === 0) this.#refused.resolve();
      return void send(401);
    }
    if (asked.id === undefined) return void send(202);
    send(200, { jsonrpc: '2.0', id: asked.id, result: resultOf(asked) });
  }

  #renew(token: string | null): boolean {
    this.renewals += 1;
    this.#isVoid ||= token !== this.tokens.refresh_token;
    if (this.#isVoid) return false;
    this.#number += 1;
    this.#isExpired = false;
    return true;
  }

  get #metadata() {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    };
  }
}

function resultOf({ method, params }: Asked): object {
  if (method !== 'initialize') return { content: [{ type: 'text', text: 'done' }] };
  const serverInfo = { name: 'rotating', version: '1' };
  return { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
}
