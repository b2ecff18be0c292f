import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { BlobStore } from '../../logs/blob-store.js';
import { SessionCommands } from '../commands/session-commands.js';
import { RequestBudget, tooManyRequests } from '../limits/request-budget.js';
import { McpResources } from './mcp-resources.js';
import type { McpEndpoint } from './mcp-server.js';

const maxConnections = 200;
/** Connections of one caller. */
const maxOfCaller = 50;
/** A client without requests or streams for this long has to initialize again. */
const idleMs = 30 * 60_000;
const sweepMs = 60_000;
const maxBatch = 50;

interface Connection {
  endpoint: McpEndpoint;
  caller: Caller;
  budget: RequestBudget;
  used: number;
  /** Open requests and streams. */
  open: number;
}

/** The MCP clients over streamable HTTP, each with a connection of its own, which is bound to its caller. */
@Injectable()
export class McpConnections implements OnApplicationShutdown {
  readonly #connections = new Map<string, Connection>();
  readonly #sweep: NodeJS.Timeout;

  constructor(
    private readonly commands: SessionCommands,
    private readonly resources: McpResources,
    private readonly blobs: BlobStore,
    private readonly ends: CallerEnds,
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
    const connection = this.#connectionOf(request, caller) ?? (await this.#open(caller));
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
    await connection.endpoint.handle(request, response, body);
    // A failed initialization leaves nothing behind.
    if (!connection.endpoint.hasBegun()) connection.endpoint.close();
  }

  /** Another caller’s connection is treated as missing. */
  #connectionOf({ headers }: IncomingMessage, caller: Caller): Connection | undefined {
    const id = headers['mcp-session-id'];
    if (id === undefined) return undefined;
    const found = this.#connections.get(String(id));
    if (found?.caller.id === caller.id) return found;
    throw new AppError('not_found', 'There is no such MCP session: initialize again.');
  }

  async #open(caller: Caller): Promise<Connection> {
    const all = [...this.#connections.values()];
    const own = all.filter((one) => one.caller.id === caller.id).length;
    if (all.length >= maxConnections || own >= maxOfCaller) {
      throw new AppError('limit_reached', 'Too many MCP clients are connected. Close some first.');
    }
    // The SDK is loaded with the first client, because most servers have none.
    const { openMcpServer } = await import('./mcp-server.js');
    const id = randomUUID();
    const { commands, resources, blobs } = this;
    const endpoint = await openMcpServer(id, {
      commands,
      resources,
      blobs,
      caller: () => connection.caller,
      closed: () => {
        off();
        this.#connections.delete(id);
      },
    });
    const connection: Connection = {
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
