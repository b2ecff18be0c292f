import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { AppError } from '@belay/protocol';
import { hashOfSecret, randomSecret } from '../storage/secrets.js';
import { accepted } from './connect-to-peer.js';
import { hostAndPort } from './host-and-port.js';
import { markIntroduced } from './introduced-caller.js';
import {
  maxIntroductionLine,
  readIntroduction,
  type PeerIntroduction,
} from './peer-introduction.js';

/** How long a connection may take to say what it wants, in milliseconds. */
const introductionMs = 2_000;
/**
 * When a silent connection is asked whether its machine is still there, in milliseconds. Node does not count the time of
 * requests for an HTTP server that does not listen itself.
 */
const keepAliveMs = 30_000;

/**
 * The port where other servers pass connections and requests on to this one. A connection begins with a line: this
 * server’s key, which only servers of its database know, the address of the client, and what the connection carries.
 * What follows is served as if the client had connected itself, except that a caller may have been introduced.
 */
export class PeerPort {
  readonly key = randomSecret();
  readonly #server: Server = createServer(
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs },
    (socket) => this.#accept(socket),
  );
  #http: HttpServer | undefined;
  #leads = false;

  private constructor(private readonly peerAddress: string) {}

  /** `peerAddress` is HOST:PORT as other servers reach it. Throws `unavailable` if this process cannot listen there. */
  static async open({ host }: { host: string }, peerAddress: string): Promise<PeerPort> {
    const opened = new PeerPort(peerAddress);
    const { port } = hostAndPort(peerAddress);
    try {
      opened.#server.listen({ host, port });
      await once(opened.#server, 'listening');
    } catch (error) {
      const { message } = error as Error;
      throw new AppError(
        'unavailable',
        `The port for other servers cannot be opened at ${host}:${port} (${message}): set another one in BELAY_PEER_URL.`,
      );
    }
    // For example when no descriptors are left; without a listener, the error would end the process.
    opened.#server.on('error', () => {});
    return opened;
  }

  /** With the port that the system has chosen, if it was 0. */
  get address(): string {
    const { port } = this.#server.address() as AddressInfo;
    return this.peerAddress.replace(/\d+$/, `${port}`);
  }

  /**
   * Accepts all connections, as the server that leads. Before, and after the end of `http`, those of clients are refused:
   * their servers look again for the one that leads.
   */
  serve(http: HttpServer): void {
    this.#leads = true;
    this.#http = http;
  }

  /** Accepts what is about this server’s own sessions, before it leads; `http` need not listen. */
  work(http: HttpServer): void {
    this.#http = http;
  }

  close(): void {
    this.#http = undefined;
    this.#server.close();
  }

  #serverOf({ kind }: PeerIntroduction): HttpServer | undefined {
    const isServed = this.#leads ? this.#http?.listening : kind !== 'connection';
    return isServed ? this.#http : undefined;
  }

  #accept(socket: Socket): void {
    let line = '';
    const refuse = (): void => void socket.destroy();
    // However slowly it sends its line.
    const late = setTimeout(refuse, introductionMs);
    const take = (bytes: Buffer): void => {
      line += bytes.toString('latin1');
      if (line.length > maxIntroductionLine) return refuse();
      if (!line.endsWith('\n')) return;
      const { key, introduction } = readIntroduction(line) ?? {};
      if (key === undefined || !introduction || !this.#isKey(key)) return refuse();
      const http = this.#serverOf(introduction);
      if (!http) return refuse();
      clearTimeout(late);
      socket.off('data', take);
      Object.defineProperty(socket, 'remoteAddress', { value: introduction.address });
      markIntroduced(socket, introduction);
      socket.write(accepted);
      http.emit('connection', socket);
    };
    socket.on('error', refuse).on('data', take);
    socket.once('close', () => clearTimeout(late));
  }

  #isKey(key: string): boolean {
    return timingSafeEqual(Buffer.from(hashOfSecret(key)), Buffer.from(hashOfSecret(this.key)));
  }
}
