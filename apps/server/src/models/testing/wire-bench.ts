import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import {
  agentCalls,
  isEvent,
  modelReplyHead,
  serverCalls,
  type Event,
  type EventAction,
  type EventOf,
  type SessionSettingsInput,
} from '@belay/protocol';
import { memoryConnections } from '@belay/rpc';
import { agentTable } from '../../agents/agent-table.js';
import { WireCalls } from '../../agents/wire-calls.js';
import { ApprovalBench } from '../../testing/approval-bench.js';
import { TestLogs } from '../../testing/logs.js';
import { ProviderKeys } from '../provider-keys.js';
import { WireGateway } from '../wire/wire-gateway.js';
import { ProviderServer } from './provider-server.js';
import type { ProviderWire } from './provider-wires.js';

/** The path of Anthropic’s messages. */
export const messagesPath = '/anthropic/v1/messages';

/** A small request there, as a program with a shell sends it. */
export const messagesRequest = (more: object = {}) => ({
  model: 'claude-sonnet-4-5',
  stream: true,
  max_tokens: 10,
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [{ name: 'bash', input_schema: { type: 'object' } }],
  ...more,
});

/**
 * The gateway over a real log between a played provider and an HTTP server in place of the one in a sandbox: what that
 * gets goes over a connection in memory, as an agent’s. Keeps all bytes that reached the sandbox.
 */
export class WireBench {
  readonly provider: ProviderServer;
  readonly logs = new TestLogs();
  readonly received: Buffer[] = [];
  approvals!: ApprovalBench;
  gateway!: WireGateway;
  readonly #wire: ProviderWire;
  #calls!: WireCalls;
  readonly #connections = memoryConnections({ server: serverCalls, agent: agentCalls });
  readonly #entry: Server = createServer((request, response) => void this.#pass(request, response));

  private constructor(wire: ProviderWire, provider: ProviderServer) {
    this.#wire = wire;
    this.provider = provider;
  }

  static async open(wire: ProviderWire): Promise<WireBench> {
    const provider = await ProviderServer.open();
    const bench = new WireBench(wire, provider);
    await bench.logs.open(wire.environment(provider.url));
    await bench.#start();
    bench.gateway.decideBy(bench.#calls);
    bench.#entry.listen(0, '127.0.0.1');
    await once(bench.#entry, 'listening');
    return bench;
  }

  /** Simulates a killed server: another one begins on the same data. */
  async restart(): Promise<void> {
    this.#connections.restartServer();
    await this.logs.reopen(this.#wire.environment(this.provider.url));
    await this.#start();
    this.#connections.reconnect();
    const session = await this.logs.log.summary('s');
    await this.gateway.settleOpen(session);
    await this.#calls.rejectOpen(session);
    this.gateway.decideBy(this.#calls);
  }

  async #start(): Promise<void> {
    const { log, store, database, config } = this.logs;
    this.approvals = new ApprovalBench(this.logs);
    const keys = new ProviderKeys(config, await this.logs.documents());
    const { approvals } = this.approvals;
    this.gateway = new WireGateway(keys, log, store, database, approvals);
    const agents = { entry: (name: string) => agentTable.get(name) };
    this.#calls = new WireCalls(log, store, approvals, agents as never);
    this.#connections.server.accept('model', async (meta, stream) => {
      void this.gateway.serve('s', meta, stream);
    });
  }

  /** Begins the session `s`, whose programs may call its model. */
  session(more: Partial<SessionSettingsInput> = {}): Promise<void> {
    const { model } = this.#wire;
    return this.logs.session('s', { model, modelForPrograms: true, approvals: 'auto', ...more });
  }

  get receivedBytes(): number {
    return this.received.reduce((sum, { length }) => sum + length, 0);
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#entry.address() as AddressInfo).port}${path}`;
  }

  post(
    path: string,
    body: object | string,
    init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return fetch(this.url(path), {
      method: 'POST',
      body: text,
      ...init,
      headers: { 'content-type': 'application/json', ...init.headers },
    });
  }

  async events<A extends EventAction>(action: A): Promise<(Event & EventOf<A>)[]> {
    const events = await this.logs.log.read('s', { after: 0 });
    return events.filter((event) => isEvent(event, action));
  }

  async close(): Promise<void> {
    this.#entry.closeAllConnections();
    await new Promise((resolve) => this.#entry.close(resolve));
    await this.gateway.beforeApplicationShutdown();
    this.#connections.break();
    await this.logs.close();
    await this.provider.close();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request;
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const stream = await this.#connections.agent.open('model', {
      method: method as 'GET' | 'POST',
      path,
      headers,
    });
    response.once('close', () => {
      if (!response.writableFinished) stream.destroy();
    });
    request.pipe(stream);
    const head = await this.#head(stream).catch(() => undefined);
    if (!head) return void response.destroy();
    response.writeHead(head.status, head.headers).flushHeaders();
    pipeline(stream, response, () => {});
  }

  async #head(stream: Duplex) {
    let bytes = Buffer.alloc(0);
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      bytes = Buffer.concat([bytes, chunk as Buffer]);
      const end = bytes.length < 4 ? Infinity : 4 + bytes.readUInt32BE();
      if (bytes.length < end) continue;
      this.received.push(bytes);
      stream.on('data', (more: Buffer) => this.received.push(more)).pause();
      stream.unshift(bytes.subarray(end));
      return modelReplyHead.parse(JSON.parse(bytes.subarray(4, end).toString()));
    }
    throw new Error('no head');
  }
}
