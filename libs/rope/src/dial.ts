import { randomUUID } from 'node:crypto';
import { Agent, type AgentOptions } from 'node:http';
import { AppError, errorShape, type Contract } from '@belay/protocol';
import { NodeWebSocket } from 'engine.io-client';
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';
import type { Rope } from './rope.js';
import { RopeEnd, type Ends } from './rope-end.js';
import { socketWire } from './wire.js';

export interface Dial {
  /** `unix:` and the path of a socket, or a `wss:` or `ws:` URL. */
  address: string;
  /** One-time token, where the socket is not the identity already. */
  token?: string;
}

/** Path of the rope on a server that has other doors too. */
export const ropePath = '/rope';

/** Milliseconds before the first and between later tries to connect again (socket.io adds up to half at random). */
const retry = { first: 60, most: 1_000 };

/**
 * Dials a rope and keeps it connected: after a break it dials again until it is closed or refused for good.
 * Calls made before the connection stands wait for it.
 *
 * A server that was started anew is another peer: pending calls are sent to it again, so what they do must be
 * safe to repeat there; streams fail with `unavailable` and are opened again by their owner, from the offset
 * that the server has stored.
 */
export function dialRope<S extends Contract, C extends Contract>(
  dial: Dial & Ends<S, C>,
): Rope<S, C> {
  const end = new RopeEnd(dial, 'dials');
  const { url, options } = target(dial.address);
  const socket = io(url, {
    transports: ['websocket'],
    ...options,
    auth: { id: randomUUID(), token: dial.token },
    forceNew: true,
    reconnectionDelay: retry.first,
    reconnectionDelayMax: retry.most,
    rejectUnauthorized: true,
  });
  socket.on('connect', () => {
    const engine = socket.io.engine;
    end.attach(socketWire(socket, () => engine.close()));
  });
  const again = (): void => {
    if (!end.closed) socket.connect();
  };
  socket.on('disconnect', (reason) => {
    // The one reason after which socket.io does not dial again by itself.
    if (reason === 'io server disconnect') setTimeout(again, retry.first);
  });
  socket.on('connect_error', (error) => {
    if (!socket.active && !end.closed) end.end(refusal(error));
  });
  end.on('closed', () => hangUp(socket));
  return end;
}

function target(address: string): {
  url: string;
  options: Partial<ManagerOptions & SocketOptions>;
} {
  if (address.startsWith('unix:')) {
    const socket = { socketPath: address.slice('unix:'.length) };
    const agent = new Agent(socket as AgentOptions);
    return {
      url: 'ws://rope',
      options: {
        path: ropePath,
        // The type of `agent` speaks of browsers; the client for Node hands an http.Agent through.
        agent: agent as unknown as string,
        transports: [UnmaskedWebSocket],
      },
    };
  }
  const { protocol, host, pathname } = new URL(address);
  return {
    url: `${protocol}//${host}`,
    options: { path: pathname === '/' ? ropePath : pathname },
  };
}

/**
 * A WebSocket with a mask of zeros, which neither end applies. Masks keep a browser's page from speaking other
 * protocols to proxies on the way (RFC 6455, 10.3); on a Unix socket there is none, and masking each byte twice
 * cost a quarter of a terminal's throughput.
 */
class UnmaskedWebSocket extends NodeWebSocket {
  override createSocket(...[uri, protocols, options]: Parameters<NodeWebSocket['createSocket']>) {
    return super.createSocket(uri, protocols, { ...options, generateMask: () => {} });
  }
}

function refusal(error: Error & { data?: unknown }): AppError {
  const shape = errorShape.safeParse(error.data);
  return shape.success
    ? new AppError(shape.data.code, shape.data.message)
    : new AppError('unauthorized', 'The server refused this rope.');
}

/** Lets a last message go out, then disconnects. */
function hangUp(socket: Socket): void {
  setImmediate(() => socket.disconnect());
}
