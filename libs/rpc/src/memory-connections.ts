import type { Contract } from '@belay/protocol';
import type { RpcConnection } from './connection.js';
import { RpcEndpoint } from './endpoint.js';
import type { Wire, WireListener } from './wire.js';

export interface MemoryConnections<S extends Contract, C extends Contract> {
  /** Serves `S` and calls `C`. */
  server: RpcConnection<S, C>;
  /** Serves `C` and calls `S`, as the endpoint that connects. */
  agent: RpcConnection<C, S>;
  /** Breaks the connection; messages in flight are lost. */
  break(): void;
  /** Reconnects after `break` or `restartServer`. */
  reconnect(): void;
  /** Replaces the server, as after a crash; the previous one receives nothing more. */
  restartServer(): RpcConnection<S, C>;
}

/**
 * Two endpoints in one process, for tests: they exchange the same messages as over a socket, delivered in later turns
 * of the event loop. Connected from the next turn on.
 */
export function memoryConnections<S extends Contract, C extends Contract>(contracts: {
  server: S;
  agent: C;
}): MemoryConnections<S, C> {
  const newServer = (): RpcEndpoint<S, C> =>
    new RpcEndpoint({ serves: contracts.server, calls: contracts.agent }, { role: 'listener' });
  let server = newServer();
  const agent = new RpcEndpoint(
    { serves: contracts.agent, calls: contracts.server },
    { role: 'dialer' },
  );
  let disconnect = (): void => {};
  const reconnect = (): void => {
    disconnect();
    const [a, b] = memoryWires();
    disconnect = () => a.close();
    server.attach(a);
    agent.attach(b);
  };
  reconnect();
  return {
    get server() {
      return server;
    },
    agent,
    break: () => disconnect(),
    reconnect,
    restartServer() {
      disconnect();
      server = newServer();
      return server;
    },
  };
}

/** The two wires of one connection in memory. */
function memoryWires(): [Wire, Wire] {
  const listeners: (WireListener | undefined)[] = [];
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    for (const listener of listeners) listener?.closed();
  };
  const wire = (self: 0 | 1): Wire => ({
    send(message) {
      if (!open) return;
      const copy = Buffer.from(message);
      setImmediate(() => {
        if (open) listeners[1 - self]?.message(copy);
      });
    },
    listen(listener) {
      listeners[self] = listener;
    },
    close,
  });
  return [wire(0), wire(1)];
}
