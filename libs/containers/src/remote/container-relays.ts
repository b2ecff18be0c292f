import { createServer, type Server } from 'node:http';
import { relayAgent, type Relay, type RelayOptions } from '@belay/rpc';
import type { DialIn } from '../container-host.js';

/** Relays the connections that containers dial to the server, each with the id of its container. */
export class ContainerRelays {
  /** The servers have no port: they handle the upgrades that they are given. */
  readonly #open = new Map<string, { server: Server; relay: Relay }>();

  constructor(private readonly to: Pick<RelayOptions, 'token' | 'url'>) {}

  dialled(id: string, { request, socket, head }: DialIn): void {
    const open = this.#open.get(id) ?? this.#openFor(id);
    open.server.emit('upgrade', request, socket, head);
  }

  /** Ends the connections of a container. */
  close(id: string): void {
    this.#open.get(id)?.relay.close();
    this.#open.delete(id);
  }

  #openFor(container: string): { server: Server; relay: Relay } {
    const server = createServer();
    const open = { server, relay: relayAgent({ ...this.to, server, container }) };
    this.#open.set(container, open);
    return open;
  }
}
