import { Injectable } from '@nestjs/common';
import { dashboardPath, type ViewerCalls, type ViewerNotices } from '@belay/protocol';
import { io, type ManagerOptions, type Socket } from 'socket.io-client';
import type { Caller } from '../../access/caller.js';
import { PeerAgent } from '../../peers/peer-agent.js';
import type { LiveServer } from '../../storage/live-servers.js';

export type PeerSocket = Socket<ViewerNotices, ViewerCalls>;

/** How long a connection may take, in milliseconds. */
const connectMs = 5_000;
const unknownAddress = '127.0.0.1';

/** Opens connections to the dashboard’s socket of other servers. */
@Injectable()
export class PeerSockets {
  /** In the name of a caller. It connects once: after that, or when it cannot, it is of no more use. */
  open(server: LiveServer, { id, via }: Caller): PeerSocket {
    const agent = new PeerAgent(server, {
      address: via?.address ?? unknownAddress,
      kind: 'caller',
      caller: { id, api: via?.api ?? 'rest' },
    });
    // The name is one that every server has; the agent connects to the peer port.
    return openSocket('http://localhost', { agent: agent as never });
  }
}

/** A connection of its own that connects once. */
export function openSocket(url: string, options: Partial<ManagerOptions>): PeerSocket {
  return io(url, {
    path: dashboardPath,
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
    timeout: connectMs,
    ...options,
  });
}

/** Takes nothing more from the network; what has arrived already is still received. */
export function pauseReading(socket: PeerSocket): void {
  webSocketOf(socket)?.pause();
}

export function resumeReading(socket: PeerSocket): void {
  webSocketOf(socket)?.resume();
}

/** In Node, the transport has a socket of the package `ws`. */
function webSocketOf({ io: { engine } }: PeerSocket): PausableWebSocket | undefined {
  return (engine?.transport as unknown as { ws?: PausableWebSocket } | undefined)?.ws;
}

interface PausableWebSocket {
  pause(): void;
  resume(): void;
}
