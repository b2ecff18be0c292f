import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { ConnectionFolder, makePrivateFolder } from '@belay/host';
import { agentCalls, AppError, serverCalls, type Contract } from '@belay/protocol';
import { agentPath, refuse, rpcServer, type RpcServer, type RpcServerOptions } from '@belay/rpc';
import { Config } from '../../config.js';
import { hashOfSecret } from '../../storage/secrets.js';
import type { AgentConnection } from './agent-link.js';

export interface Listener {
  /** Whether the program with this id is the sandbox’s agent; only the id’s hash is known. */
  admits(agent: string): boolean;
  onConnection(connection: AgentConnection): void;
  /** Called once, with a sentence, when the agent has broken the protocol too often. */
  onBroken(reason: string): void;
}

interface Listening {
  server: Server;
  connections: RpcServer;
  /** The hash of the token that connections from another machine need. */
  token?: string;
}

type RemoteOptions<S extends Contract, C extends Contract> = Omit<RpcServerOptions<S, C>, 'server'>;

/** After this many protocol violations, the sandbox’s agent is refused. */
const maxBreaches = 5;

/**
 * A Unix socket for each sandbox, alone in a folder that is mounted only into that container: the socket identifies
 * the sandbox, and an id that the agent generates identifies the agent.
 */
@Injectable()
export class AgentListener {
  /** The path for connections from other machines, at the server’s own port. */
  readonly path = agentPath;
  readonly #logger = new Logger(AgentListener.name);
  readonly #root: string;
  readonly #listening = new Map<string, Listening>();
  readonly #rootFolder: string;

  constructor(config: Config) {
    this.#rootFolder = config.runtimeFolder;
    this.#root = join(config.runtimeFolder, config.instance);
  }

  folder(sandbox: string): string {
    return this.#folder(sandbox).path;
  }

  /**
   * Listens at the sandbox’s own path, which stays the same after a restart of the server, so that agents can
   * reconnect.
   */
  async open(sandbox: string, listener: Listener): Promise<void> {
    await makePrivateFolder(this.#rootFolder);
    await makePrivateFolder(this.#root);
    const folder = this.#folder(sandbox);
    await folder.make();
    const server = createServer();
    const connections = rpcServer({ ...this.#optionsOf(sandbox, listener), server });
    // The container’s user has no account here; access is limited by the folder.
    await folder.listen('agent.sock', server);
    this.#listening.set(sandbox, { server, connections });
  }

  #optionsOf(
    sandbox: string,
    listener: Listener,
  ): RemoteOptions<typeof serverCalls, typeof agentCalls> {
    let breaches = 0;
    return {
      serves: serverCalls,
      calls: agentCalls,
      onConnection: (connection) => listener.onConnection(connection),
      authorize: async ({ id }) => {
        if (breaches >= maxBreaches || !listener.admits(hashOfSecret(id, 'hex'))) throw refused();
      },
      onBroken: (reason) => {
        breaches += 1;
        if (breaches > 1) return;
        const sentence = `The agent’s connection was closed: ${reason}.`;
        this.#logger.warn(`Sandbox ${sandbox}: ${sentence}`);
        listener.onBroken(sentence);
      },
    };
  }

  /** Admits the agent of a sandbox on another machine, by a token instead of a socket. */
  openAgent(sandbox: string, token: string, listener: Listener): void {
    this.openRemote(sandbox, token, this.#optionsOf(sandbox, listener));
  }

  /** Admits connections with the token of this hash at the server’s own port: see `upgrade`. */
  openRemote<S extends Contract, C extends Contract>(
    name: string,
    token: string,
    options: RemoteOptions<S, C>,
  ): void {
    // Without a port of its own: it handles upgrades with this token.
    const server = createServer();
    const connections = rpcServer({ ...options, server, dropsSilent: true });
    this.#listening.set(name, { server, connections, token });
  }

  /** A connection from another machine, identified by its token. Without a valid token, nothing of it is read. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const token = /^Bearer (\S{20,200})$/.exec(request.headers.authorization ?? '')?.[1];
    const hash = token === undefined ? undefined : hashOfSecret(token, 'hex');
    for (const listening of this.#listening.values())
      if (hash !== undefined && listening.token === hash)
        return void listening.server.emit('upgrade', request, socket, head);
    refuse(socket, new AppError('unauthorized', 'This token is not valid, or was revoked.'));
  }

  /** Puts a small file beside the socket, readable for all. */
  async putFile(sandbox: string, name: string, content: string): Promise<void> {
    const create = (path: string) => writeFile(path, content, { flag: 'wx' });
    await this.#folder(sandbox).place(name, 0o644, create);
  }

  /** Stops listening and removes the folder; pending calls fail with `reason`. */
  async remove(sandbox: string, reason: AppError): Promise<void> {
    await this.#hangUp(sandbox, reason);
    await this.#folder(sandbox).remove();
  }

  /** Stops all listening; agents keep trying to reconnect. */
  async hangUpAll(): Promise<void> {
    await Promise.all([...this.#listening.keys()].map((sandbox) => this.#hangUp(sandbox)));
  }

  #folder(sandbox: string): ConnectionFolder {
    return new ConnectionFolder(this.#root, sandbox);
  }

  async #hangUp(sandbox: string, reason?: AppError): Promise<void> {
    const listening = this.#listening.get(sandbox);
    if (!listening) return;
    this.#listening.delete(sandbox);
    listening.connections.close(reason);
    listening.server.closeAllConnections();
    await new Promise((resolve) => listening.server.close(resolve));
  }
}

function refused(): AppError {
  return new AppError('forbidden', 'Only the agent of this sandbox may connect.');
}
