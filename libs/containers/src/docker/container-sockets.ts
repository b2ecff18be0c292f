import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { ConnectionFolder, makePrivateFolder } from '@belay/host';
import { WaitingConnections } from '@belay/rpc';
import type { DialIn } from '../container-host.js';

interface OpenSocket {
  server: Server;
  connections: Set<Duplex>;
}

/**
 * A Unix socket for each container, alone in a folder that is mounted only there: the socket identifies the container.
 * Its path stays the same when another process opens it, so that agents can reconnect.
 */
export class ContainerSockets {
  readonly #root: string;
  readonly #open = new Map<string, OpenSocket>();

  /** `name` is the folder of the owner’s sockets among those of this user. */
  constructor(
    private readonly runtimeFolder: string,
    name: string,
    private readonly onDial: (id: string, dial: DialIn) => void,
  ) {
    this.#root = join(runtimeFolder, name);
  }

  /** The folder to mount. */
  folder(id: string): string {
    return this.#folder(id).path;
  }

  async open(id: string): Promise<void> {
    if (this.#open.has(id)) return;
    await makePrivateFolder(this.runtimeFolder);
    await makePrivateFolder(this.#root);
    const folder = this.#folder(id);
    await folder.make();
    const server = createServer();
    const waiting = new WaitingConnections(server);
    const connections = new Set<Duplex>();
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      waiting.leave(socket);
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
      socket.on('error', () => socket.destroy());
      this.onDial(id, { request, socket, head });
    });
    // The container’s user has no account here; access is limited by the folder.
    await folder.listen('agent.sock', server);
    this.#open.set(id, { server, connections });
  }

  /** Puts a small file beside the socket, readable for all. */
  async place(id: string, name: string, content: string): Promise<void> {
    const create = (path: string) => writeFile(path, content, { flag: 'wx' });
    await this.#folder(id).place(name, 0o644, create);
  }

  /** Ends its connections and removes the folder. */
  async remove(id: string): Promise<void> {
    await this.#close(id);
    await this.#folder(id).remove();
  }

  /** Ends all connections; the folders stay for the next process. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#close(id)));
  }

  async #close(id: string): Promise<void> {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    for (const socket of open.connections) socket.destroy();
    open.server.closeAllConnections();
    await new Promise((resolve) => open.server.close(resolve));
  }

  #folder(id: string): ConnectionFolder {
    return new ConnectionFolder(this.#root, id);
  }
}
