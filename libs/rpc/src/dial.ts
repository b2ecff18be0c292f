import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { connect, type TcpNetConnectOpts } from 'node:net';
import { AppError, errorShape, type Contract } from '@belay/protocol';
import { WebSocket, type ClientOptions } from 'ws';
import type { RpcConnection } from './connection.js';
import { RpcEndpoint, type EndpointContracts } from './endpoint.js';
import { nearPings, socketOptions, socketWire } from './wire.js';

export interface Dial {
  /** `unix:PATH` of a socket, or a `wss:` or `ws:` URL. */
  address: string;
  /** A one-time token, needed if the socket does not already identify the agent. */
  token?: string | undefined;
  /** The only certificate authority that is trusted, as PEM; those of this system if undefined. */
  authority?: string | undefined;
}

/** Path of the agent connection’s URL. */
export const agentPath = '/agent';
/** The header with the id of the agent. */
export const agentHeader = 'x-belay-agent';

/** The header with the id of the container that dials, in the requests of a machine that relays its connections. */
export const containerHeader = 'x-belay-container';

/** Delays before reconnecting: doubled from the first to the maximum, with up to half of each added at random. */
const reconnect = { firstDelayMs: 60, maxDelayMs: 1_000 };
const handshakeTimeoutMs = 20_000;
/** The limit for the body of a refusal. */
const maxBodyCharacters = 10_000;
/** Refusals that are temporary. */
const temporary: ReadonlySet<string> = new Set(['conflict', 'unavailable', 'limit_reached']);

/**
 * Connects to a server and stays connected: after a break it reconnects until it is closed, or refused by the
 * server's `authorize`. Returns at once and never throws; calls wait until the connection is open.
 *
 * A restarted server is a new peer: pending calls are sent to it again, so they must be safe to repeat; streams fail
 * with `unavailable`, and their owner opens them again from the offset that the server has stored.
 */
export function dialRpc<S extends Contract, C extends Contract>(
  dial: Dial & EndpointContracts<S, C>,
): RpcConnection<S, C> {
  const endpoint = new RpcEndpoint(dial, { role: 'dialer' });
  const { url, options } = target(dial);
  let socket: WebSocket | undefined;
  let delayMs = reconnect.firstDelayMs;
  let timer: NodeJS.Timeout | undefined;
  let handshakeTimeout = handshakeTimeoutMs;
  const open = (): void => {
    socket = new WebSocket(url, { ...options, handshakeTimeout });
    listen(socket);
  };
  const listen = (opened: WebSocket): void => {
    opened.on('error', () => {});
    opened.once('open', () => {
      delayMs = reconnect.firstDelayMs;
      dropWhenSilent(opened, (timeoutMs) => {
        // One that is silent for this long does not complete a handshake later either.
        handshakeTimeout = Math.min(timeoutMs, handshakeTimeoutMs);
      });
      endpoint.attach(socketWire(opened, { bounded: false }));
    });
    opened.once('unexpected-response', (_request, response) => {
      void refusalOf(response).then((error) => {
        opened.terminate();
        if (!temporary.has(error.code)) endpoint.end(error);
      });
    });
    opened.once('close', () => {
      if (endpoint.closed) return;
      timer = setTimeout(open, delayMs * (1 + Math.random() / 2));
      delayMs = Math.min(2 * delayMs, reconnect.maxDelayMs);
    });
  };
  endpoint.on('closed', () => {
    clearTimeout(timer);
    if (socket?.readyState === WebSocket.CONNECTING) socket.terminate();
  });
  open();
  return endpoint;
}

function target({ address, token, authority }: Dial): { url: string; options: ClientOptions } {
  const options: ClientOptions = {
    ...socketOptions,
    ...(authority !== undefined && { ca: authority }),
    headers: {
      [agentHeader]: randomUUID(),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  };
  if (!address.startsWith('unix:')) {
    const { protocol, host } = new URL(address);
    return { url: `${protocol}//${host}${agentPath}`, options };
  }
  const path = address.slice('unix:'.length);
  return {
    url: `ws://agent${agentPath}`,
    options: {
      ...options,
      // Node leaves the limit for the handshake to the socket.
      createConnection: (given) =>
        connect({ ...(given as Pick<TcpNetConnectOpts, 'timeout'>), path }),
      // Masks protect proxies from scripts in browsers (RFC 6455, section 10.3); a Unix socket has neither, and
      // masking each byte twice cost a quarter of a terminal’s throughput. A mask of zeros changes nothing.
      generateMask: () => {},
    },
  };
}

/** Until its first ping, a server may be silent as long as one on the same machine. `told` gets what each ping allows. */
function dropWhenSilent(socket: WebSocket, told: (timeoutMs: number) => void): void {
  const drop = (): void => socket.terminate();
  let timer = setTimeout(drop, nearPings.serverTimeoutMs);
  socket.on('ping', (data) => {
    clearTimeout(timer);
    const timeoutMs = Number(data.toString()) || nearPings.serverTimeoutMs;
    timer = setTimeout(drop, timeoutMs);
    told(timeoutMs);
  });
  socket.once('close', () => clearTimeout(timer));
}

/** Never rejects. */
async function refusalOf(response: IncomingMessage): Promise<AppError> {
  try {
    let body = '';
    for await (const chunk of response) {
      body += String(chunk);
      if (body.length > maxBodyCharacters) break;
    }
    const { code, message } = errorShape.parse(JSON.parse(body));
    return new AppError(code, message);
  } catch {
    return new AppError('unavailable', 'The server did not accept this connection.');
  }
}
