import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** An address for pods in front of the servers of a database, as a Service is: each connection goes to the next one that listens. */
export class FrontOfAgents {
  readonly #server: Server = createServer((socket) => this.#pass(socket, this.hosts.length));
  readonly #open = new Set<Socket>();
  #next = 0;

  /** The servers listen on the same port at these addresses. */
  private constructor(
    private readonly hosts: readonly string[],
    private readonly port: number,
  ) {}

  static async open(
    address: { host: string; port: number },
    hosts: readonly string[],
  ): Promise<FrontOfAgents> {
    const front = new FrontOfAgents(hosts, address.port);
    await once(front.#server.listen(address), 'listening');
    return front;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await once(this.#server.close(), 'close');
  }

  #pass(socket: Socket, tries: number): void {
    const host = this.hosts[(this.#next += 1) % this.hosts.length];
    const server = connect({ host, port: this.port });
    server.once('error', () => {
      if (tries > 1) this.#pass(socket, tries - 1);
      else socket.destroy();
    });
    server.once('connect', () => {
      this.#join(socket, server);
      this.#join(server, socket);
    });
  }

  #join(one: Socket, other: Socket): void {
    this.#open.add(one);
    one.on('error', () => other.destroy());
    one.once('close', () => {
      this.#open.delete(one);
      other.destroy();
    });
    one.pipe(other);
  }
}
