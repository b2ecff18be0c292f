import type { Contract } from '@belay/protocol';
import type { Rope } from './rope.js';
import { RopeEnd } from './rope-end.js';
import type { Wire, WireListener } from './wire.js';

export interface MemoryRopes<S extends Contract, C extends Contract> {
  /** Serves `S` and calls `C`. */
  server: Rope<S, C>;
  /** Serves `C` and calls `S`, as the end that dials. */
  agent: Rope<C, S>;
  /** Breaks the connection; what is on its way is lost. */
  break(): void;
  /** Connects again. */
  heal(): void;
  /** Another server, as after a crash: the one that was there is closed and hears nothing more. */
  restartServer(): Rope<S, C>;
}

/**
 * Two ends in one process, for tests: the same link as over socket.io, messages delivered in later turns of the
 * event loop. Connected from the next turn on.
 */
export function memoryRopes<S extends Contract, C extends Contract>(contracts: {
  server: S;
  agent: C;
}): MemoryRopes<S, C> {
  const newServer = (): RopeEnd<S, C> =>
    new RopeEnd({ serves: contracts.server, calls: contracts.agent }, 'dialled');
  let server = newServer();
  const agent = new RopeEnd({ serves: contracts.agent, calls: contracts.server }, 'dials');
  let cut = (): void => {};
  const heal = (): void => {
    cut();
    const [a, b] = memoryWires();
    cut = () => a.close();
    server.attach(a);
    agent.attach(b);
  };
  heal();
  return {
    get server() {
      return server;
    },
    agent,
    break: () => cut(),
    heal,
    restartServer() {
      cut();
      server = newServer();
      return server;
    },
  };
}

/** Both ends of one connection in memory. */
function memoryWires(): [Wire, Wire] {
  const listeners: (WireListener | undefined)[] = [];
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    for (const listener of listeners) listener?.closed();
  };
  const wire = (self: 0 | 1): Wire => ({
    send(kind, ...args) {
      if (!open) return;
      const copy = structuredClone(args);
      setImmediate(() => {
        if (open) listeners[1 - self]?.message(kind, copy);
      });
    },
    listen(listener) {
      listeners[self] = listener;
    },
    close,
  });
  return [wire(0), wire(1)];
}
