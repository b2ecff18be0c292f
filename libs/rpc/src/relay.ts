import {
  request as plainRequest,
  type ClientRequest,
  type IncomingMessage,
  type Server as HttpServer,
} from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { AppError, errorFrom } from '@belay/protocol';
import { agentHeader, agentPath, containerHeader } from './dial.js';
import { refuse, WaitingConnections } from './waiting-connections.js';

export interface RelayOptions {
  /** Listens on the Unix socket of one sandbox, and serves nothing else. */
  server: HttpServer;
  /** The server that the agent belongs to: `https:` or, on this machine, `http:`. */
  url: URL;
  /** The token that identifies this machine to the server. The sandbox never sees it. */
  token: string;
  /** The id of the sandbox’s container. */
  container: string;
}

export interface Relay {
  /** Ends every connection. Does not close the http.Server. */
  close(): void;
}

const handshakeTimeoutMs = 20_000;
/** The limit for the body of a server’s refusal. */
const maxRefusalBytes = 10_000;
/** An agent has one connection, and briefly a second one. */
const maxConnections = 4;

/**
 * Relays the connection of an agent that has only a Unix socket to its server, byte for byte; the server enforces the
 * limits. Of the agent’s request, only the handshake keys and its id are forwarded, with the token and the container.
 */
export function relayAgent(options: RelayOptions): Relay {
  const waiting = new WaitingConnections(options.server);
  const open = new Set<Duplex>();
  /** Connections by agent id. */
  const connected = new Map<string, Duplex>();
  options.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    waiting.leave(socket);
    socket.on('error', () => socket.destroy());
    const agent = request.headers[agentHeader]?.toString();
    if (request.url !== agentPath || agent === undefined)
      return refuse(socket, new AppError('not_found', 'Nothing is served at this path.'));
    // The server assumes that a connection without an answer is gone; on this socket it is known.
    if (connected.has(agent))
      return refuse(socket, new AppError('conflict', 'This agent is connected already.'));
    if (open.size >= maxConnections)
      return refuse(socket, new AppError('limit_reached', 'This agent is connected already.'));
    open.add(socket);
    const outward = connectOutward(options, request);
    socket.once('close', () => {
      open.delete(socket);
      if (connected.get(agent) === socket) connected.delete(agent);
      outward.destroy();
    });
    outward.on('error', () => socket.destroy());
    outward.once('response', (response) => void passRefusal(response, socket));
    outward.once('upgrade', (response, server, first) => {
      if (open.has(socket)) connected.set(agent, socket);
      relay({ socket, head }, { socket: server, head: first }, response);
    });
  });
  return {
    close: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

function connectOutward(
  { url, token, container }: RelayOptions,
  { headers }: IncomingMessage,
): ClientRequest {
  const request = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const outward = request(new URL(agentPath, url), {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': headers['sec-websocket-version'] ?? '',
      'sec-websocket-key': headers['sec-websocket-key'] ?? '',
      [agentHeader]: headers[agentHeader],
      [containerHeader]: container,
      authorization: `Bearer ${token}`,
    },
  });
  const late = setTimeout(() => outward.destroy(), handshakeTimeoutMs);
  for (const event of ['upgrade', 'response', 'close'])
    outward.once(event, () => clearTimeout(late));
  return outward.end();
}

interface End {
  socket: Duplex;
  /** Bytes that have already arrived. */
  head: Buffer;
}

function relay(agent: End, server: End, { headers }: IncomingMessage): void {
  server.socket.on('error', () => server.socket.destroy());
  agent.socket.once('close', () => server.socket.destroy());
  server.socket.once('close', () => agent.socket.destroy());
  agent.socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n` +
      `sec-websocket-accept: ${headers['sec-websocket-accept'] ?? ''}\r\n\r\n`,
  );
  agent.socket.write(server.head);
  server.socket.write(agent.head);
  agent.socket.pipe(server.socket).pipe(agent.socket);
}

/** Forwards a refusal, which tells the agent to end or to retry. */
async function passRefusal(response: IncomingMessage, socket: Duplex): Promise<void> {
  try {
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of response) {
      parts.push(part as Buffer);
      bytes += (part as Buffer).length;
      if (bytes > maxRefusalBytes) break;
    }
    const said = Buffer.concat(parts);
    socket.end(
      `HTTP/1.1 ${response.statusCode ?? 502} Refused\r\ncontent-type: application/json\r\n` +
        `content-length: ${said.length}\r\nconnection: close\r\n\r\n${said.toString()}`,
      () => socket.destroy(),
    );
  } catch (error) {
    refuse(socket, errorFrom(error));
  }
}
