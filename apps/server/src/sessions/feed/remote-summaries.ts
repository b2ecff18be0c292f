import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ownerCaller } from '../../access/caller.js';
import { EventLog } from '../../logs/event-log.js';
import { OtherSessions } from '../../peers/other-sessions.js';
import type { LiveServer } from '../../storage/live-servers.js';
import { PeerSockets, type PeerSocket } from './peer-sockets.js';

/**
 * How other servers show their sessions, told to this server’s log while it leads: with what is not in their logs, such as
 * an agent that cannot be reached. Rows that `OtherSessions` reads show everything else, also without a connection.
 */
@Injectable()
export class RemoteSummaries implements OnModuleDestroy {
  readonly #sockets = new Map<string, PeerSocket>();
  readonly #unsubscribe: () => void;

  constructor(
    private readonly log: EventLog,
    private readonly others: OtherSessions,
    private readonly sockets: PeerSockets,
  ) {
    this.#unsubscribe = others.onLook((servers) => this.#connect(servers));
  }

  onModuleDestroy(): void {
    this.#unsubscribe();
    this.#connect([]);
  }

  /** Keeps one connection to each of these servers, and to no other. */
  #connect(servers: readonly LiveServer[]): void {
    const ids = new Set(servers.map(({ id }) => id));
    for (const [id, socket] of this.#sockets) if (!ids.has(id)) this.#end(id, socket);
    for (const server of servers) if (!this.#sockets.has(server.id)) this.#open(server);
  }

  #open(server: LiveServer): void {
    const { id } = server;
    const socket = this.sockets.open(server, ownerCaller);
    this.#sockets.set(id, socket);
    socket.once('connect', () => socket.emit('fleet', {}, () => undefined));
    socket.once('connect_error', () => this.#end(id, socket));
    socket.once('disconnect', () => this.#end(id, socket));
    socket.on('session', ({ summary }) => {
      // It tells of all sessions, but knows more only of its own. Those that were deleted have no row.
      if (summary && this.#isOf(server, summary.id)) this.log.elsewhere.show(id, summary);
    });
  }

  #isOf({ id }: LiveServer, session: string): boolean {
    return !this.log.isOwned(session) && this.others.serverOf(session) === id;
  }

  #end(id: string, socket: PeerSocket): void {
    if (this.#sockets.get(id) !== socket) return;
    this.#sockets.delete(id);
    socket.disconnect();
    this.log.elsewhere.forget(id);
  }
}
