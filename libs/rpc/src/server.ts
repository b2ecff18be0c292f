import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, errorFrom, type Contract } from '@belay/protocol';
import { WebSocketServer, type WebSocket } from 'ws';
import { z } from 'zod';
import { agentHeader, agentPath } from './dial.js';
import type { RpcConnection } from './connection.js';
import { RpcEndpoint, type EndpointContracts } from './endpoint.js';
import { expireAfterReading } from './expire-after-reading.js';
import { within } from './frame-channel.js';
import { limits } from './limits.js';
import { refuse, WaitingConnections } from './waiting-connections.js';
import {
  farPings,
  nearPings,
  replaceablePings,
  socketOptions,
  socketWire,
  type Pings,
} from './wire.js';

export interface RpcServerOptions<S extends Contract, C extends Contract> extends EndpointContracts<
  S,
  C
> {
  /** Listens on the Unix socket of one sandbox, and serves nothing else. */
  server: HttpServer;
  /**
   * Called once for each agent, not for its reconnects. Register handlers before it returns. Must not throw: use
   * `authorize` to refuse.
   */
  onConnection(connection: RpcConnection<S, C>, caller: RpcCaller): void;
  /**
   * Called before any data of a connection is read; rejects with `AppError` to refuse. Without it, everyone may
   * connect.
   */
  authorize?(caller: RpcCaller): Promise<void>;
  /** An agent broke the protocol, as a clause; its connection is closed. */
  onBroken?(reason: string, caller: RpcCaller): void;
  /**
   * For connections over a network, which can fail silently: one that does not answer is closed after seconds, and is
   * replaced by the next one, which is already authenticated. On a Unix socket, which is never half-open, none is
   * replaced.
   */
  dropsSilent?: boolean;
  /** Whether another server takes the place of this one when it is silent: its agents then leave it after seconds. */
  isReplaceable?: boolean;
}

/** The connecting agent: the id that it generated, and its token if it has one. */
export interface RpcCaller {
  id: string;
  token: string | undefined;
}

export interface RpcServer {
  /**
   * Disconnects without a `bye`, so that agents keep reconnecting. Pending calls fail with `reason`, by default
   * `unavailable`. Does not close the http.Server.
   */
  close(reason?: AppError): void;
}

const credentials = z.object({
  id: z.string().min(16).max(limits.nameLength),
  token: z.string().max(500).optional(),
});

/** How long a reconnect waits for the end of the previous connection, whose interruption may not be noticed yet. */
const replacedTimeoutMs = 250;
/** How long a connection may take to answer before another one may replace it. */
const silentTimeoutMs = 3_000;

const serverClosed = new AppError('unavailable', 'The server closed the connection.');
const isConnected = new AppError('conflict', 'This agent is connected already.');

interface Known<Endpoint> {
  readonly endpoint: Endpoint;
  readonly token: string | undefined;
  socket: WebSocket | undefined;
}

/**
 * Accepts the connections of agents: one `RpcConnection` for each agent, across all reconnects, and one wire at a
 * time. An agent is identified by the id in its request’s headers, a secret that it generated. Before that, only the
 * request of a connection is read: at most 16 KiB of headers, within seconds, from a few at once.
 */
export function rpcServer<S extends Contract, C extends Contract>(
  options: RpcServerOptions<S, C>,
): RpcServer {
  const agents = new Agents(options);
  return { close: (reason = serverClosed) => agents.close(reason) };
}

class Agents<S extends Contract, C extends Contract> {
  readonly #options: RpcServerOptions<S, C>;
  readonly #known = new Map<string, Known<RpcEndpoint<S, C>>>();
  readonly #sockets = new WebSocketServer({ ...socketOptions, noServer: true, autoPong: false });
  readonly #waiting: WaitingConnections;
  /** One check at a time, so that repeated dialing costs the others nothing. */
  #dropping = false;
  #closed = false;

  constructor(options: RpcServerOptions<S, C>) {
    this.#options = options;
    this.#waiting = new WaitingConnections(options.server);
    options.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade({ request, socket, head });
    });
  }

  close(reason: AppError): void {
    this.#closed = true;
    for (const { endpoint, socket } of this.#known.values()) {
      endpoint.end(reason);
      socket?.terminate();
    }
    this.#sockets.close();
  }

  /** Never rejects: errors become the response. */
  async #upgrade(upgrade: { request: IncomingMessage; socket: Duplex; head: Buffer }) {
    const { request, socket, head } = upgrade;
    socket.on('error', () => {});
    try {
      const caller = callerOf(request);
      if (this.#options.dropsSilent) await this.#dropSilent();
      const known = this.#known.get(caller.id);
      if (known) await checkReconnect(known, caller);
      else await this.#options.authorize?.(caller);
      if (this.#known.get(caller.id)?.endpoint.attached) throw isConnected;
      if (this.#closed) throw serverClosed;
      this.#sockets.handleUpgrade(request, socket, head, (opened) => {
        this.#waiting.leave(socket);
        this.#connect(opened, caller);
      });
    } catch (error) {
      refuse(socket, errorFrom(error));
    }
  }

  async #dropSilent(): Promise<void> {
    if (this.#dropping) throw isConnected;
    this.#dropping = true;
    try {
      const sockets = [...this.#known.values()].flatMap(({ endpoint, socket }) =>
        endpoint.attached && socket ? [socket] : [],
      );
      await Promise.all(sockets.map(dropUnlessAnswered));
    } finally {
      this.#dropping = false;
    }
  }

  #connect(socket: WebSocket, caller: RpcCaller): void {
    const known = this.#known.get(caller.id) ?? this.#add(caller);
    known.socket = socket;
    const { dropsSilent, isReplaceable } = this.#options;
    keepAlive(socket, {
      ...(dropsSilent ? farPings : nearPings),
      ...(isReplaceable && replaceablePings),
    });
    known.endpoint.attach(socketWire(socket, { bounded: true }));
  }

  #add(caller: RpcCaller): Known<RpcEndpoint<S, C>> {
    const endpoint = new RpcEndpoint(this.#options, {
      role: 'listener',
      onBroken: (reason) => this.#options.onBroken?.(reason, caller),
    });
    const known: Known<RpcEndpoint<S, C>> = { endpoint, token: caller.token, socket: undefined };
    this.#known.set(caller.id, known);
    endpoint.on('closed', () => {
      if (this.#known.get(caller.id) === known) this.#known.delete(caller.id);
    });
    this.#options.onConnection(endpoint, caller);
    return known;
  }
}

/** Resolves when the agent has no wire: a second program with its id can neither join nor replace it. */
async function checkReconnect(
  { endpoint, token, socket }: Known<{ readonly attached: boolean }>,
  caller: RpcCaller,
): Promise<void> {
  if (!isSameToken(token, caller.token)) {
    throw new AppError('unauthorized', 'The token does not belong to this agent.');
  }
  if (endpoint.attached && socket) await closedWithin(socket, replacedTimeoutMs);
  if (endpoint.attached) throw isConnected;
}

function isSameToken(a: string | undefined, b: string | undefined): boolean {
  const [left, right] = [Buffer.from(a ?? ''), Buffer.from(b ?? '')];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Throws `forbidden` for web pages, which are the only clients with an origin, and `invalid_input`. */
function callerOf({ url, headers }: IncomingMessage): RpcCaller {
  if (url !== agentPath) throw new AppError('not_found', 'Nothing is served at this path.');
  if (headers.origin !== undefined) {
    throw new AppError('forbidden', 'A web page cannot connect as an agent.');
  }
  const token = headers.authorization?.replace(/^Bearer /, '');
  const caller = credentials.safeParse({ id: headers[agentHeader], token });
  if (!caller.success) throw new AppError('invalid_input', 'An agent connects with its id.');
  return { id: caller.data.id, token: caller.data.token };
}

function keepAlive(socket: WebSocket, { intervalMs, timeoutMs, serverTimeoutMs }: Pings): void {
  let receivedAt = performance.now();
  // One that exceeds its rate is not read for a while.
  const isSilent = (): boolean => !socket.isPaused && performance.now() - receivedAt > timeoutMs;
  const dropIfSilent = (): void => void (isSilent() && socket.terminate());
  const ping = (): void => socket.ping(`${serverTimeoutMs}`);
  const timer = setInterval(() => {
    // If this process was busy, an answer may have arrived unread: see `expireAfterReading`.
    if (isSilent()) setImmediate(dropIfSilent);
    else ping();
  }, intervalMs);
  ping();
  socket.on('pong', () => (receivedAt = performance.now()));
  socket.on('message', () => (receivedAt = performance.now()));
  socket.once('close', () => clearInterval(timer));
}

/** Resolves when the socket has answered, or is closed. */
async function dropUnlessAnswered(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const answered = (): void => resolve();
  const signs = ['pong', 'message', 'close'] as const;
  const endWaiting = expireAfterReading(silentTimeoutMs, () => socket.terminate());
  for (const sign of signs) socket.on(sign, answered);
  if (socket.readyState === socket.OPEN) socket.ping();
  await promise;
  endWaiting();
  for (const sign of signs) socket.off(sign, answered);
}

/** Resolves when the socket is closed, or after `timeoutMs`. */
async function closedWithin(socket: WebSocket, timeoutMs: number): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  await within(timeoutMs, (done) => socket.once('close', () => done()));
}
