import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, ignoreError, type api, type RouteResult } from '@belay/protocol';
import { answerOnSocket, refuseOnSocket } from '../refuse-on-socket.js';
import { askedProbe, type Probe } from './asked-probe.js';
import { connectToPeer } from './connect-to-peer.js';
import type { LeaseHolder } from './server-rows.js';

const lookAgainMs = 200;

/** In milliseconds. */
interface RelayTimeouts {
  /** How long a connection waits for a server that serves: longer than another one needs to take its place. */
  waitMs: number;
  /** How long a client that is refused may take to read why, whatever it still sends. */
  refusedMs: number;
}

/** What a probe of this server asks about. */
interface OwnState {
  /** Whether what it knows of other servers is of now. */
  hasDatabase: boolean;
  isEnding: boolean;
}

/**
 * Passes connections on to the server that works on the sessions, byte for byte. Nothing of a connection is passed on
 * before that server has accepted it, so looking for it again repeats no request. Probes are answered here, because they
 * are about this server.
 */
export class ConnectionRelay {
  readonly #server: Server = createServer(
    { allowHalfOpen: true, pauseOnConnect: true },
    (socket) => void this.#relay(socket),
  );
  /** The connections to each server. */
  readonly #relayed = new Map<Socket, string>();

  constructor(
    private readonly holder: () => LeaseHolder | undefined,
    private readonly state: () => OwnState = () => ({ hasDatabase: true, isEnding: false }),
    private readonly timeouts: RelayTimeouts = { waitMs: 20_000, refusedMs: 2_000 },
  ) {}

  async listen(port: number, host: string): Promise<void> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    // For example when no descriptors are left; without a listener, the error would end the process.
    this.#server.on('error', () => {});
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Frees the port, which it returns; connections that are passed on, or wait for that, stay. */
  stop(): number {
    const { port } = this;
    this.#server.close();
    return port;
  }

  /** Ends the connections to all other servers, so that their clients connect again. */
  keepOnly(server: string | undefined): void {
    for (const [upstream, id] of this.#relayed) if (id !== server) upstream.destroy();
  }

  async #relay(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    // It was reset before it was accepted, as some load balancers do to see whether a port is open.
    if (socket.remoteAddress === undefined) return void socket.destroy();
    const probe = await askedProbe(socket, this.timeouts.waitMs);
    if (probe) return this.#last(socket, await this.#health(probe, socket));
    const upstream = await this.#upstream(socket);
    if (!upstream) return this.#last(socket, () => refuseOnSocket(socket, nobody()));
    if (socket.destroyed) return void upstream.destroy();
    // What is written already still arrives.
    upstream.once('close', () => socket.destroySoon());
    socket.once('close', () => upstream.destroySoon());
    socket.pipe(upstream).pipe(socket);
  }

  /** Gives the last answer of a connection, which may still send. */
  #last(socket: Socket, answer: () => void): void {
    socket.resume();
    answer();
    const timer = setTimeout(() => socket.destroy(), this.timeouts.refusedMs);
    socket.once('close', () => clearTimeout(timer));
  }

  async #health(probe: Probe, client: Socket): Promise<() => void> {
    if (probe === 'live') return () => answerOnSocket(client, { status: 200, body: { ok: true } });
    const { hasDatabase: database, isEnding: draining } = this.state();
    const holder = this.holder();
    const upstream = holder?.isAlive && (await this.#connect(holder, client));
    if (upstream) upstream.destroy();
    const ready = database && !draining && Boolean(upstream);
    const reasons = [
      ...(draining ? ['The server is shutting down.'] : []),
      ...(database ? [] : ['The database does not respond.']),
      ...(upstream ? [] : ['No server can be reached that serves clients.']),
    ];
    const body: RouteResult<typeof api.monitoring.ready> = {
      ready,
      database,
      engine: null,
      draining,
      reasons,
    };
    return () => answerOnSocket(client, { status: ready ? 200 : 503, body });
  }

  /** Undefined when no server serves in time. */
  async #upstream(socket: Socket): Promise<Socket | undefined> {
    const end = performance.now() + this.timeouts.waitMs;
    while (performance.now() < end && !socket.destroyed) {
      const holder = this.holder();
      const upstream = holder?.isAlive && (await this.#connect(holder, socket));
      if (upstream) return upstream;
      await delay(lookAgainMs);
    }
    return undefined;
  }

  /** Undefined when that server does not serve: it has ended, or is about to begin. */
  async #connect({ id, address, key }: LeaseHolder, client: Socket): Promise<Socket | undefined> {
    const introduction = { address: client.remoteAddress ?? '', kind: 'connection' } as const;
    const upstream = await connectToPeer({ address: address ?? '', key }, introduction).catch(
      ignoreError('it is looked for again'),
    );
    if (!upstream) return undefined;
    this.#relayed.set(upstream, id);
    upstream.once('close', () => this.#relayed.delete(upstream));
    return upstream;
  }
}

const nobody = (): AppError =>
  new AppError('unavailable', 'No server serves at the moment: try again in a few seconds.');
