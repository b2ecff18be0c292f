import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, ignoreError } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { BlobStore } from '../../logs/blob-store.js';
import { ExpiringValues } from '../../storage/expiring-values.js';
import { SessionCommands } from '../commands/session-commands.js';
import { RequestBudget, tooManyRequests } from '../limits/request-budget.js';
import { McpResources } from './mcp-resources.js';
import type { McpEndpoint } from './mcp-server.js';

const maxConnections = 200;
/** Connections of one caller. */
const maxOfCaller = 50;
/** The connection of a client without requests or streams for this long is closed. */
const idleMs = 30 * 60_000;
/** How long a client can go on with its session, also at another server, without initializing again. */
const keptMs = 7 * 24 * 3600_000;
const kind = 'mcp-session';
const sweepMs = 60_000;
const maxBatch = 50;

interface Connection {
  id: string;
  endpoint: McpEndpoint;
  caller: Caller;
  budget: RequestBudget;
  used: number;
  /** Open requests and streams. */
  open: number;
}

/**
 * The MCP clients over streamable HTTP, each with a connection of its own, which is bound to its caller. What a client has
 * said of itself is stored: most of them do not initialize again by themselves when their server is another one.
 */
@Injectable()
export class McpConnections implements OnApplicationShutdown {
  readonly #connections = new Map<string, Connection>();
  /** Those that go on with a session of a server before, by their secrets. */
  readonly #beginning = new Map<string, Promise<Connection | undefined>>();
  readonly #sweep: NodeJS.Timeout;

  constructor(
    private readonly commands: SessionCommands,
    private readonly resources: McpResources,
    private readonly blobs: BlobStore,
    private readonly ends: CallerEnds,
    private readonly values: ExpiringValues,
  ) {
    this.#sweep = setInterval(() => this.#closeIdle(), sweepMs).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#sweep);
    for (const connection of this.#connections.values()) connection.endpoint.close();
  }

  /** Handles a request; `body` is its parsed JSON. Any `AppError` is thrown before the response begins. */
  async handle(
    { request, response }: { request: IncomingMessage; response: ServerResponse },
    caller: Caller,
    body?: unknown,
  ): Promise<void> {
    const id = request.headers['mcp-session-id']?.toString();
    const connection =
      id === undefined ? await this.#open(caller) : await this.#connectionOf(id, caller);
    if (Array.isArray(body) && body.length > maxBatch) {
      throw new AppError('too_large', `A batch has at most ${maxBatch} messages.`);
    }
    const messages = Array.isArray(body) ? body.length : 1;
    for (let at = 0; at < messages; at += 1) {
      if (!connection.budget.take()) throw tooManyRequests();
    }
    connection.caller = caller;
    connection.used = Date.now();
    connection.open += 1;
    response.once('close', () => {
      connection.open -= 1;
      connection.used = Date.now();
    });
    if (id === undefined) await this.#store(connection, body);
    else if (request.method === 'DELETE') await this.values.take(kind, secretOf(caller, id));
    await connection.endpoint.handle(request, response, body);
    // A failed initialization leaves nothing behind.
    if (!connection.endpoint.hasBegun()) connection.endpoint.close();
  }

  /** Another caller’s connection is treated as missing. */
  async #connectionOf(id: string, caller: Caller): Promise<Connection> {
    const found = this.#connections.get(id);
    if (found?.caller.id === caller.id) return found;
    const secret = secretOf(caller, id);
    const beginning =
      this.#beginning.get(secret) ??
      this.#openAgain(id, caller).finally(() => this.#beginning.delete(secret));
    this.#beginning.set(secret, beginning);
    const begun = await beginning;
    if (begun) return begun;
    throw new AppError('not_found', 'There is no such MCP session: initialize again.');
  }

  async #openAgain(id: string, caller: Caller): Promise<Connection | undefined> {
    const stored = await this.values.find(kind, secretOf(caller, id));
    return stored && this.#open(caller, { id, initialization: stored.text });
  }

  /** What cannot be stored is known for as long as this server runs. */
  async #store({ id, caller }: Connection, body: unknown): Promise<void> {
    const { initializationOf } = await import('./mcp-server.js');
    const text = initializationOf(body);
    if (text === undefined) return;
    const { id: owner } = caller;
    const expires = Date.now() + keptMs;
    const store = async (): Promise<void> => {
      await this.values.add({ kind, secret: secretOf(caller, id), owner, text, expires });
      await this.values.limitOf(kind, owner, { rows: maxOfCaller, size: Infinity });
    };
    await store().catch(ignoreError('its client has to initialize again at another server'));
  }

  async #open(
    caller: Caller,
    { id = randomUUID() as string, initialization = undefined as string | undefined } = {},
  ): Promise<Connection> {
    const all = [...this.#connections.values()];
    const own = all.filter((one) => one.caller.id === caller.id).length;
    if (all.length >= maxConnections || own >= maxOfCaller) {
      throw new AppError('limit_reached', 'Too many MCP clients are connected. Close some first.');
    }
    // The SDK is loaded with the first client, because most servers have none.
    const { openMcpServer } = await import('./mcp-server.js');
    const { commands, resources, blobs } = this;
    const endpoint = await openMcpServer(id, {
      commands,
      resources,
      blobs,
      initialization,
      caller: () => connection.caller,
      closed: () => {
        off();
        this.#connections.delete(id);
      },
    });
    const connection: Connection = {
      id,
      endpoint,
      caller,
      budget: new RequestBudget(caller),
      used: Date.now(),
      open: 0,
    };
    const off = this.ends.on(caller, () => connection.endpoint.close());
    this.#connections.set(id, connection);
    return connection;
  }

  #closeIdle(): void {
    const before = Date.now() - idleMs;
    for (const connection of this.#connections.values()) {
      if (connection.open === 0 && connection.used < before) connection.endpoint.close();
    }
  }
}

/** The caller is a part of the secret: nobody goes on with the session of another. */
const secretOf = (caller: Caller, id: string): string => JSON.stringify([caller.id, id]);
