import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { createServer, isIP, type AddressInfo, type Server, type Socket } from 'node:net';
import { AppError } from '@belay/protocol';
import { hashOfSecret, randomSecret } from '../storage/secrets.js';
import { hostAndPort } from './host-and-port.js';

/** How long a connection may take to say what it wants, and how long that may be. */
const introductionMs = 2_000;
const maxIntroduction = 200;
/** The answer to a connection that is served from here on. */
export const served = 'ok\n';

/**
 * The port where other servers pass connections on to this one. A connection begins with a line: this server’s key,
 * which only servers of its database know, and the address of the client. Then come the client’s own bytes, which are
 * served as if it had connected itself.
 */
export class PeerPort {
  readonly key = randomSecret();
  readonly #server: Server = createServer((socket) => this.#accept(socket));
  #http: HttpServer | undefined;

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

  /** Before, and after its end, connections are refused: their servers look again for the one that serves. */
  serve(http: HttpServer): void {
    this.#http = http;
  }

  close(): void {
    this.#server.close();
  }

  #accept(socket: Socket): void {
    let line = '';
    const refuse = (): void => void socket.destroy();
    const take = (bytes: Buffer): void => {
      line += bytes.toString('latin1');
      if (line.length > maxIntroduction) return refuse();
      if (!line.endsWith('\n')) return;
      const [key = '', address = ''] = line.trim().split(' ');
      const http = this.#http?.listening ? this.#http : undefined;
      if (!http || !this.#isKey(key) || isIP(address) === 0) return refuse();
      socket.off('data', take).off('timeout', refuse).setTimeout(0);
      Object.defineProperty(socket, 'remoteAddress', { value: address });
      socket.write(served);
      http.emit('connection', socket);
    };
    socket.on('error', refuse).setTimeout(introductionMs, refuse).on('data', take);
  }

  #isKey(key: string): boolean {
    return timingSafeEqual(Buffer.from(hashOfSecret(key)), Buffer.from(hashOfSecret(this.key)));
  }
}
