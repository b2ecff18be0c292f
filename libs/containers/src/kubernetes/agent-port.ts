import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';
import { AppError } from '@belay/protocol';
import { mustUpgrade, refuse, WaitingConnections } from '@belay/rpc';
import type { DialIn } from '../container-host.js';
import type { CertifiedKey } from './agent-authority.js';

export interface ListenAddress {
  host: string;
  port: number;
}

/** A request of a container, with its id. */
export type ContainerRequestListener = (
  id: string,
  exchange: { request: IncomingMessage; response: ServerResponse },
) => void;

interface Admitted {
  id: string;
  connections: Set<Duplex>;
}

/** How long the rate of an address without connections is remembered, in ms. */
const forgetMs = 10_000;

/** What a token is compared and stored by. */
export const hashOfToken = (token: string): string =>
  createHash('sha256').update(token).digest('hex');

/**
 * A port with TLS that serves containers and nobody else: the token of each stands for one container. Connections that are
 * not accepted yet are limited for each address, so that no container delays another one.
 */
export class AgentPort {
  readonly #server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  readonly #open = new Set<Socket>();
  readonly #identity: SecureContext;
  readonly #sources = new Map<string, { http: Server; open: number; forget?: NodeJS.Timeout }>();
  /** By the hash of their tokens. */
  readonly #admitted = new Map<string, Admitted>();

  #onDial: (id: string, dial: DialIn) => void = (_, { socket }) =>
    refuse(socket, new AppError('unavailable', 'Nobody listens yet.'));

  #onRequest: ContainerRequestListener = (_, { request, response }) =>
    mustUpgrade(request, response);

  private constructor({ certificate, key }: CertifiedKey) {
    this.#identity = createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.3' });
  }

  /** Throws `unavailable` for an address where this process cannot listen. */
  static async open({ host, port }: ListenAddress, identity: CertifiedKey): Promise<AgentPort> {
    const opened = new AgentPort(identity);
    try {
      opened.#server.listen({ host, port });
      await once(opened.#server, 'listening');
    } catch (error) {
      throw new AppError(
        'unavailable',
        `The port for agents cannot be opened at ${host}:${port}: ${(error as Error).message}.`,
      );
    }
    // For example when no descriptors are left; without a listener, the error would end the process.
    opened.#server.on('error', () => {});
    return opened;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Called with each connection of a container that was admitted. */
  onDial(listener: (id: string, dial: DialIn) => void): void {
    this.#onDial = listener;
  }

  /** Called with each other request of a container that was admitted. */
  onRequest(listener: ContainerRequestListener): void {
    this.#onRequest = listener;
  }

  /** Admits the dials with the token of this hash. */
  admit(id: string, tokenHash: string): void {
    if (!this.#admitted.has(tokenHash))
      this.#admitted.set(tokenHash, { id, connections: new Set() });
  }

  /** Ends a container’s connections and admits no more. */
  remove(id: string): void {
    for (const [hash, one] of this.#admitted) {
      if (one.id !== id) continue;
      this.#admitted.delete(hash);
      for (const socket of one.connections) socket.destroy();
    }
  }

  async close(): Promise<void> {
    for (const { id } of this.#admitted.values()) this.remove(id);
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const source = this.#sources.get(address) ?? { http: this.#serve(), open: 0 };
    this.#sources.set(address, source);
    clearTimeout(source.forget);
    source.open += 1;
    this.#open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.#open.delete(socket);
      source.open -= 1;
      if (source.open > 0) return;
      source.forget = setTimeout(() => this.#sources.delete(address), forgetMs).unref();
    });
    // The time limit of a connection that waits includes its handshake.
    const secured = new TLSSocket(socket, { isServer: true, secureContext: this.#identity });
    source.http.emit('connection', secured);
  }

  /** Of one address. */
  #serve(): Server {
    const http = createHttpServer();
    const accepted = (request: IncomingMessage, socket: Duplex): Admitted | undefined => {
      const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
      const admitted = this.#admitted.get(hashOfToken(token ?? ''));
      if (!admitted) return undefined;
      waiting.leave(socket);
      admitted.connections.add(socket);
      socket.once('close', () => admitted.connections.delete(socket));
      return admitted;
    };
    const waiting = new WaitingConnections(http, (request, response) => {
      const admitted = accepted(request, request.socket);
      if (!admitted) return mustUpgrade(request, response);
      // The connection may break at any time.
      request.on('error', () => request.destroy());
      response.setHeader('connection', 'close');
      this.#onRequest(admitted.id, { request, response });
    });
    http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      const admitted = accepted(request, socket);
      // Its container may be adopted later.
      if (!admitted)
        return refuse(socket, new AppError('unavailable', 'Nobody listens to this container.'));
      this.#onDial(admitted.id, { request, socket, head });
    });
    return http;
  }
}
