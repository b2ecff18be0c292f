import { createServer, type Server } from 'node:http';
import type { DialIn } from '@belay/containers';
import { AppError } from '@belay/protocol';
import { refuse, relayAgent, type Relay } from '@belay/rpc';

/** Relays the connections of agents in containers to their server, each with the token of its sandbox. */
export class AgentRelays {
  /** The servers have no port: they handle the upgrades that they are given. */
  readonly #open = new Map<string, { server: Server; relay: Relay }>();

  constructor(private readonly url: URL) {}

  open(sandbox: string, token: string): void {
    const server = createServer();
    this.#open.set(sandbox, { server, relay: relayAgent({ server, url: this.url, token }) });
  }

  /** A connection that the container of a sandbox has dialled. */
  dialled(sandbox: string, { request, socket, head }: DialIn): void {
    const open = this.#open.get(sandbox);
    if (open) open.server.emit('upgrade', request, socket, head);
    else refuse(socket, new AppError('unavailable', 'This agent has no session now.'));
  }

  /** Ends its connection. */
  close(sandbox: string): void {
    this.#open.get(sandbox)?.relay.close();
    this.#open.delete(sandbox);
  }
}
