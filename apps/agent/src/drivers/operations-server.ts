import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AppError,
  belayVersion,
  errorFrom,
  ignoreError,
  jsonFault,
  resultText,
} from '@belay/protocol';
import { z } from 'zod';
import type { ServerConnection } from '../server-connection.js';
import { messagesInLines } from './messages-in-lines.js';
import type { ProgramCalls } from './program-calls.js';

export interface OperationsServerOptions {
  calls: Pick<ProgramCalls, 'tools' | 'call'>;
  connection: Pick<ServerConnection, 'call'>;
  /** Aborted at the end of the turn; undefined between turns, when nothing may be called. */
  turn(): AbortSignal | undefined;
}

/** How a program starts the server. */
export interface ServerCommand {
  name: string;
  command: string;
  args: string[];
}

/** The name of the server in programs’ settings and in the names of its tools. */
export const operationsServerName = 'belay';

const request = z.object({
  id: z.union([z.string().max(200), z.number()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});
const initialize = z.object({ protocolVersion: z.string().max(20) });
const toolCall = z.object({ name: z.string().max(300), arguments: z.unknown() });
const cancellation = z.object({ requestId: z.union([z.string(), z.number()]) });

/** JSON-RPC’s error for a method that is not served, and for a request that is not valid. */
const [methodNotFound, invalidParams] = [-32_601, -32_602];
/** The calls of one connection that may run at once. */
const mostAtOnce = 16;
const mostConnections = 32;

/** Connects its standard streams to the socket that is its argument. */
const relay =
  'const s=require("node:net").connect(process.argv[1]);process.stdin.pipe(s);s.pipe(process.stdout);s.on("error",()=>process.exit(1))';

/**
 * Belay’s operations as an MCP server. A program starts it as a process that relays to a socket of this process. Other
 * programs of the sandbox may connect, too: what they call is approved like any other call.
 */
export class OperationsServer {
  readonly #options: OperationsServerOptions;
  readonly #server: Server;
  readonly #folder: string;
  readonly #sockets = new Set<Socket>();

  private constructor(options: OperationsServerOptions) {
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), 'belay-operations-'));
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(options: OperationsServerOptions): Promise<OperationsServer> {
    const started = new OperationsServer(options);
    await new Promise<void>((resolve, reject) => {
      started.#server.once('error', reject);
      started.#server.listen(started.#path, resolve);
    });
    return started;
  }

  get command(): ServerCommand {
    return {
      name: operationsServerName,
      command: process.execPath,
      args: ['-e', relay, this.#path],
    };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #path(): string {
    return join(this.#folder, 'socket');
  }

  #serve(socket: Socket): void {
    if (this.#sockets.size >= mostConnections) return void socket.destroy();
    this.#sockets.add(socket);
    const running = new Map<string | number, AbortController>();
    const closed = new AbortController();
    socket.on('close', () => {
      this.#sockets.delete(socket);
      closed.abort(new AppError('cancelled', 'The program has closed the connection.'));
    });
    socket.on('error', ignoreError('`close` follows'));
    void this.#read(socket, running, closed.signal).catch(
      ignoreError('the connection ends with it'),
    );
  }

  async #read(
    socket: Socket,
    running: Map<string | number, AbortController>,
    closed: AbortSignal,
  ): Promise<void> {
    const skipped = { onNoise: () => undefined, onFault: () => undefined };
    for await (const line of messagesInLines(socket, skipped)) {
      // A program that does not read its answers gets no more of them.
      if (socket.writableNeedDrain) await once(socket, 'drain', { signal: closed });
      const { data } = request.safeParse(line);
      if (!data) continue;
      const { id, method, params } = data;
      if (id === undefined) {
        const { data: ended } = cancellation.safeParse(params);
        if (method === 'notifications/cancelled' && ended)
          running.get(ended.requestId)?.abort(new AppError('cancelled', 'It was cancelled.'));
        continue;
      }
      const abort = new AbortController();
      const fault = jsonFault(params);
      if (fault || running.size >= mostAtOnce || running.has(id)) {
        const message = fault ? `The request ${fault}.` : 'Too many requests.';
        answer(socket, { id, error: { code: invalidParams, message } });
        continue;
      }
      running.set(id, abort);
      void this.#reply(method, params, AbortSignal.any([abort.signal, closed]))
        .catch((thrown: unknown) => ({
          error: { code: invalidParams, message: errorFrom(thrown).message },
        }))
        .then((reply) => answer(socket, { id, ...reply }))
        .finally(() => running.delete(id));
    }
  }

  async #reply(
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<object> {
    if (method === 'initialize') {
      const { protocolVersion } = initialize.parse(params);
      const serverInfo = { name: operationsServerName, title: 'Belay', version: belayVersion };
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
    }
    if (method === 'ping') return { result: {} };
    if (method === 'tools/list') {
      const tools = this.#options.calls
        .tools()
        .map(({ name, description, parameters: inputSchema }) => ({
          name,
          description,
          inputSchema,
        }));
      return { result: { tools } };
    }
    if (method === 'tools/call')
      return { result: await this.#call(toolCall.parse(params), signal) };
    return { error: { code: methodNotFound, message: `${method} is not served.` } };
  }

  async #call(
    { name, arguments: input }: z.infer<typeof toolCall>,
    cancelled: AbortSignal,
  ): Promise<object> {
    const turn = this.#options.turn();
    if (!turn) throw new AppError('conflict', 'The agent has no turn now, so it can call nothing.');
    const signal = AbortSignal.any([turn, cancelled]);
    const { ok, operation, output, images } = await this.#options.calls.call(name, input, signal);
    const text = ok ? resultText({ operation, output }) : errorFrom(output).message;
    const pictures = await Promise.all(images.map((blob) => this.#picture(blob)));
    return { content: [{ type: 'text', text }, ...pictures.flat()], isError: !ok };
  }

  async #picture(blob: string): Promise<object[]> {
    const stored = await this.#options.connection
      .call('blobs.get', { blob })
      .catch(ignoreError('the text says what the call did'));
    if (!stored) return [];
    const { type, bytes } = stored;
    return [{ type: 'image', mimeType: type, data: Buffer.from(bytes).toString('base64') }];
  }
}

function answer(socket: Socket, message: object): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
