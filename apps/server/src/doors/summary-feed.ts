import type { ViewerNotices } from '@belay/protocol';
import { hangUp, isCongested, type ViewerServer, type ViewerSocket } from './viewer.js';

/** Summaries change with every event; each is told of at most this often. */
const pauseMs = 100;

/** What viewers are told of: sessions, or benchmark runs. */
type Kind = 'session' | 'evaluation';
type Notice<K extends Kind> = Parameters<ViewerNotices[K]>[0];
type Summary<K extends Kind> = Extract<Notice<K>['summary'], object>;

interface Source<K extends Kind> {
  list(): Promise<Summary<K>[]>;
  /** Calls back for each change, with null for what is gone; answers what ends it. */
  subscribe(changed: (id: string, summary: Summary<K> | null) => void): () => void;
}

/** The viewers of all summaries of one kind. Only the newest of each is worth sending. */
export class SummaryFeed<K extends Kind> {
  private readonly changed = new Map<string, Summary<K> | null>();
  /** Viewers that were too slow for a change: they are sent everything when they have room. */
  private readonly behind = new Set<ViewerSocket>();
  private timer: NodeJS.Timeout | undefined;
  private readonly end: () => void;
  private readonly room: string;

  constructor(
    private readonly server: ViewerServer,
    private readonly kind: K,
    private readonly source: Source<K>,
  ) {
    this.room = `all ${kind}s`;
    this.end = source.subscribe((id, summary) => this.note(id, summary));
  }

  async add(socket: ViewerSocket): Promise<void> {
    await socket.join(this.room);
    for (const summary of await this.source.list()) this.send(socket, summary.id, summary);
  }

  remove(socket: ViewerSocket): void {
    this.behind.delete(socket);
  }

  close(): void {
    clearTimeout(this.timer);
    this.end();
  }

  private note(id: string, summary: Summary<K> | null): void {
    this.changed.set(id, summary);
    this.timer ??= setTimeout(() => this.flush(), pauseMs).unref();
  }

  private flush(): void {
    this.timer = undefined;
    const slow = this.members().filter(isCongested);
    for (const socket of slow) this.behind.add(socket);
    const others = this.server.to(this.room).except([...this.behind].map(({ id }) => id));
    for (const [id, summary] of this.changed) this.send(others, id, summary);
    this.changed.clear();
    for (const socket of this.behind) {
      if (isCongested(socket)) continue;
      this.behind.delete(socket);
      this.add(socket).catch(() => hangUp(socket));
    }
    if (this.behind.size > 0) this.timer = setTimeout(() => this.flush(), pauseMs).unref();
  }

  private send(
    to: Pick<ViewerSocket, 'emit'> | Pick<ViewerServer, 'emit'>,
    id: string,
    summary: Summary<K> | null,
  ): void {
    // TypeScript does not see that the kind of the name and of the notice are the same one.
    const emit = to.emit.bind(to) as (name: Kind, notice: object) => void;
    emit(this.kind, { id, summary });
  }

  private members(): ViewerSocket[] {
    const ids = this.server.of('/').adapter.rooms.get(this.room) ?? new Set<string>();
    return [...ids]
      .map((id) => this.server.of('/').sockets.get(id) as ViewerSocket | undefined)
      .filter((socket) => socket !== undefined);
  }
}
