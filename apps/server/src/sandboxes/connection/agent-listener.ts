import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import type { DialIn } from '@belay/containers';
import { agentCalls, AppError, serverCalls, type Contract } from '@belay/protocol';
import {
  agentPath,
  containerHeader,
  refuse,
  rpcServer,
  type RpcServer,
  type RpcServerOptions,
} from '@belay/rpc';
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
  /** Without a port of its own: it handles the upgrades that it is given. */
  server: Server;
  connections: RpcServer;
  /** The hash of the token that connections from another machine need. */
  token?: string;
  dialled?: DialTaker | undefined;
}

/** Takes a connection that another machine relays for a container, which the machine names. */
type DialTaker = (container: string, dial: DialIn) => void;

type RemoteOptions<S extends Contract, C extends Contract> = Omit<RpcServerOptions<S, C>, 'server'>;

/** After this many protocol violations, the sandbox’s agent is refused. */
const maxBreaches = 5;

/**
 * Accepts the connections of agents. The host of its container, or a token, identifies the sandbox, and an id that the
 * agent generates identifies the agent.
 */
@Injectable()
export class AgentListener {
  /** The path for connections from other machines, at the server’s own port. */
  readonly path = agentPath;
  readonly #logger = new Logger(AgentListener.name);
  readonly #listening = new Map<string, Listening>();
  readonly #isReplaceable: boolean;
  #hasEnded = false;

  constructor({ peerAddress }: Config) {
    this.#isReplaceable = peerAddress !== undefined;
  }

  /** Admits the agent of a sandbox in a container; `isFar` when its connection comes over a network. */
  open(sandbox: string, listener: Listener, { isFar = false } = {}): void {
    const server = createServer();
    const options = this.#optionsOf(sandbox, listener);
    const connections = this.#connections({ ...options, server, dropsSilent: isFar });
    this.#listening.set(sandbox, { server, connections });
  }

  /** A connection that the container of a sandbox has dialled. */
  dialled(sandbox: string, { request, socket, head }: DialIn): void {
    const listening = this.#listening.get(sandbox);
    // One with a token has no container here.
    if (listening && listening.token === undefined)
      listening.server.emit('upgrade', request, socket, head);
    else refuse(socket, new AppError('unavailable', 'Nobody listens to this sandbox now.'));
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

  /**
   * Admits connections with the token of this hash at the server’s own port: see `upgrade`. `dialled` takes those that
   * are relayed for a container.
   */
  openRemote<S extends Contract, C extends Contract>(
    name: string,
    token: string,
    { dialled, ...options }: RemoteOptions<S, C> & { dialled?: DialTaker | undefined },
  ): void {
    const server = createServer();
    const connections = this.#connections({ ...options, server, dropsSilent: true });
    this.#listening.set(name, { server, connections, token, dialled });
  }

  #connections<S extends Contract, C extends Contract>(options: RpcServerOptions<S, C>): RpcServer {
    return rpcServer({ ...options, isReplaceable: this.#isReplaceable });
  }

  /** A connection from another machine, identified by its token. Without a valid token, nothing of it is read. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const token = /^Bearer (\S{20,200})$/.exec(request.headers.authorization ?? '')?.[1];
    const hash = token === undefined ? undefined : hashOfSecret(token, 'hex');
    const container = request.headers[containerHeader]?.toString();
    for (const { token: known, server, dialled } of this.#listening.values()) {
      if (hash === undefined || known !== hash) continue;
      if (container === undefined) return void server.emit('upgrade', request, socket, head);
      if (dialled) return dialled(container, { request, socket, head });
    }
    refuse(socket, this.#hasEnded ? serverEnds() : unknownToken());
  }

  /** Stops admitting connections; pending calls fail with `reason`. */
  remove(sandbox: string, reason?: AppError): void {
    this.#listening.get(sandbox)?.connections.close(reason);
    this.#listening.delete(sandbox);
  }

  /** Ends all connections; agents and machines keep trying to reconnect. */
  hangUpAll(): void {
    this.#hasEnded = true;
    for (const sandbox of this.#listening.keys()) this.remove(sandbox);
  }
}

function refused(): AppError {
  return new AppError('forbidden', 'Only the agent of this sandbox may connect.');
}

const unknownToken = (): AppError =>
  new AppError('unauthorized', 'This token is not valid, or was revoked.');

/** Unlike an unknown token, this lets a machine try again. */
const serverEnds = (): AppError => new AppError('unavailable', 'The server is ending. Try again.');
