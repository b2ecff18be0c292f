import type { ViewerNotices } from '@belay/protocol';
import { seesAll, type Caller } from '../../access/caller.js';
import {
  emitTo,
  hangUp,
  isCongested,
  type DashboardServer,
  type DashboardSocket,
} from './dashboard-socket.js';

/** Summaries change with every event; each is sent at most this often. */
const pauseMs = 100;

/** The subject of a summary: sessions, or benchmark runs. */
type Kind = 'session' | 'evaluation';
type Notice<K extends Kind> = Parameters<ViewerNotices[K]>[0];
type Summary<K extends Kind> = Extract<Notice<K>['summary'], object>;

interface Source<K extends Kind> {
  list(): Promise<Summary<K>[]>;
  isSeen(caller: Caller, id: string): boolean;
  /** The listener gets each change, with null for a deletion; returns a function that unsubscribes. */
  subscribe(changed: (id: string, summary: Summary<K> | null) => void): () => void;
}

/** The viewers of all summaries of one kind. Only the newest version of each is sent. */
export class SummaryFollowers<K extends Kind> {
  readonly #changed = new Map<string, Summary<K> | null>();
  /** Viewers that were too slow for a change; they get all summaries when they accept data again. */
  readonly #behind = new Set<DashboardSocket>();
  /** Viewers that do not see everything; each gets its own selection. */
  readonly #limited = new Set<DashboardSocket>();
  #timer: NodeJS.Timeout | undefined;
  readonly #end: () => void;
  readonly #room: string;

  constructor(
    private readonly server: DashboardServer,
    private readonly kind: K,
    private readonly source: Source<K>,
  ) {
    this.#room = `all ${kind}s`;
    this.#end = source.subscribe((id, summary) => this.#note(id, summary));
  }

  async add(socket: DashboardSocket): Promise<void> {
    const { caller } = socket.data.access;
    if (seesAll(caller)) await socket.join(this.#room);
    else if (socket.connected) this.#limited.add(socket);
    for (const summary of await this.source.list()) {
      if (this.source.isSeen(caller, summary.id)) this.#send(socket, summary.id, summary);
    }
  }

  remove(socket: DashboardSocket): void {
    this.#behind.delete(socket);
    this.#limited.delete(socket);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#end();
  }

  #note(id: string, summary: Summary<K> | null): void {
    this.#changed.set(id, summary);
    this.#timer ??= setTimeout(() => this.#flush(), pauseMs).unref();
  }

  #flush(): void {
    this.#timer = undefined;
    const slow = this.#members().filter(isCongested);
    for (const socket of slow) this.#behind.add(socket);
    const others = this.server.to(this.#room).except([...this.#behind].map(({ id }) => id));
    for (const [id, summary] of this.#changed) {
      this.#send(others, id, summary);
      for (const socket of this.#limited) {
        const isSent =
          !this.#behind.has(socket) && this.source.isSeen(socket.data.access.caller, id);
        if (isSent) this.#send(socket, id, summary);
      }
    }
    this.#changed.clear();
    for (const socket of this.#behind) {
      if (isCongested(socket)) continue;
      this.#behind.delete(socket);
      this.add(socket).catch(() => hangUp(socket));
    }
    if (this.#behind.size > 0) this.#timer = setTimeout(() => this.#flush(), pauseMs).unref();
  }

  #send(
    to: Pick<DashboardSocket, 'emit'> | Pick<DashboardServer, 'emit'>,
    id: string,
    summary: Summary<K> | null,
  ): void {
    emitTo(to, this.kind, { id, summary });
  }

  #members(): DashboardSocket[] {
    const ids = this.server.of('/').adapter.rooms.get(this.#room) ?? new Set<string>();
    const seeingAll = [...ids]
      .map((id) => this.server.of('/').sockets.get(id) as DashboardSocket | undefined)
      .filter((socket) => socket !== undefined);
    return [...seeingAll, ...this.#limited];
  }
}
