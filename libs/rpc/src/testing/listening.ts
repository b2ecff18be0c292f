import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { RpcConnection } from '../connection.js';
import { agentHeader, agentPath, dialRpc } from '../dial.js';
import { helloMessage } from '../message.js';
import { rpcServer, type RpcCaller } from '../server.js';

const number = z.object({ n: z.int() });
export const contracts = {
  server: {
    add: { input: number, output: number },
    keep: {
      input: z.object({ value: z.unknown(), bytes: z.instanceof(Uint8Array).optional() }),
      output: z.object({ value: z.unknown() }),
    },
  },
  agent: { twice: { input: number, output: number } },
};
export type Served = RpcConnection<typeof contracts.server, typeof contracts.agent>;
export type Dialled = RpcConnection<typeof contracts.agent, typeof contracts.server>;

/** A server on the Unix socket of one sandbox, with an honest agent and whatever else dials it. */
export class Listening {
  readonly path: string;
  readonly broken: string[] = [];
  readonly served: Served[] = [];
  /** Whoever may connect; all may when it is undefined. */
  authorize: ((caller: RpcCaller) => Promise<void>) | undefined;
  readonly #folder: string;
  readonly #ends: (() => Promise<unknown> | void)[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
    this.path = join(folder, 's');
  }

  static async open(options: { dropsSilent?: boolean } = {}): Promise<Listening> {
    const listening = new Listening(await mkdtemp(join(tmpdir(), 'rpc-')));
    await listening.#listen(options);
    return listening;
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
    await rm(this.#folder, { recursive: true });
  }

  dial(): Dialled {
    const address = `unix:${this.path}`;
    const dialled = dialRpc({ address, serves: contracts.agent, calls: contracts.server });
    dialled.serve({ twice: async ({ n }) => ({ n: 2 * n }) });
    this.#ends.push(() => dialled.close());
    return dialled;
  }

  /** A plain connection, and the bytes that came until it was closed. */
  async raw(): Promise<{ socket: Socket; received: Promise<string> }> {
    const socket = connect(this.path);
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
    const received = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
    this.#ends.push(() => void socket.destroy());
    await Promise.race([once(socket, 'connect'), received]);
    return { socket, received };
  }

  /** A WebSocket that was let in; `closed` resolves with its code. */
  async webSocket(
    id = 'hostile-program-0001',
  ): Promise<{ socket: WebSocket; closed: Promise<number> }> {
    const socket = new WebSocket(`ws://agent${agentPath}`, {
      createConnection: () => connect(this.path),
      headers: { [agentHeader]: id },
      perMessageDeflate: false,
    });
    socket.on('error', () => {});
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    this.#ends.push(() => socket.terminate());
    await Promise.race([once(socket, 'open'), closed]);
    return { socket, closed };
  }

  /** One that also said hello. */
  async greeted(id?: string): Promise<{ socket: WebSocket; closed: Promise<number> }> {
    const opened = await this.webSocket(id);
    opened.socket.send(helloMessage('hostile-process', null, 0));
    return opened;
  }

  async #listen(options: { dropsSilent?: boolean }): Promise<void> {
    const server = createServer();
    const connections = rpcServer({
      ...options,
      server,
      serves: contracts.server,
      calls: contracts.agent,
      authorize: async (caller) => this.authorize?.(caller),
      onBroken: (reason) => this.broken.push(reason),
      onConnection: (connection) => {
        connection.serve({
          add: async ({ n }) => ({ n: n + 1 }),
          keep: async ({ value }) => ({ value }),
        });
        connection.accept('terminal', async (_meta, stream) => void stream.resume());
        this.served.push(connection);
      },
    });
    await new Promise<void>((resolve) => server.listen(this.path, resolve));
    this.#ends.push(async () => {
      connections.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
  }
}
