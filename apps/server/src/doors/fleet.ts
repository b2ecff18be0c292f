import type { SessionSummary } from '@belay/protocol';
import type { EventLog } from '../sessions/event-log.js';
import type { SessionService } from '../sessions/session.service.js';
import { isCongested, type ViewerServer, type ViewerSocket } from './viewer.js';

/** Summaries change with every event; each session is told of at most this often. */
const pauseMs = 100;
const room = 'fleet';

/** The viewers of all sessions' summaries. Only the newest of each is worth sending. */
export class Fleet {
  private readonly changed = new Map<string, SessionSummary | null>();
  /** Viewers that were too slow for a change: they are sent everything when they have room. */
  private readonly behind = new Set<ViewerSocket>();
  private timer: NodeJS.Timeout | undefined;
  private readonly endings: (() => void)[];

  constructor(
    private readonly server: ViewerServer,
    private readonly sessions: SessionService,
    log: EventLog,
  ) {
    this.endings = [
      log.subscribeAll((id, _events, summary) => this.note(id, summary)),
      sessions.onRemoved((id) => this.note(id, null)),
    ];
  }

  async add(socket: ViewerSocket): Promise<void> {
    await socket.join(room);
    for (const summary of await this.sessions.list()) {
      socket.emit('session', { id: summary.id, summary });
    }
  }

  remove(socket: ViewerSocket): void {
    this.behind.delete(socket);
  }

  close(): void {
    clearTimeout(this.timer);
    for (const end of this.endings) end();
  }

  private note(id: string, summary: SessionSummary | null): void {
    this.changed.set(id, summary);
    this.timer ??= setTimeout(() => this.flush(), pauseMs).unref();
  }

  private flush(): void {
    this.timer = undefined;
    const slow = this.members().filter(isCongested);
    for (const socket of slow) this.behind.add(socket);
    const notices = this.server.to(room).except([...this.behind].map(({ id }) => id));
    for (const [id, summary] of this.changed) notices.emit('session', { id, summary });
    this.changed.clear();
    for (const socket of this.behind) {
      if (isCongested(socket)) continue;
      this.behind.delete(socket);
      void this.add(socket);
    }
    if (this.behind.size > 0) this.timer = setTimeout(() => this.flush(), 1_000).unref();
  }

  private members(): ViewerSocket[] {
    const ids = this.server.of('/').adapter.rooms.get(room) ?? new Set<string>();
    return [...ids]
      .map((id) => this.server.of('/').sockets.get(id) as ViewerSocket | undefined)
      .filter((socket) => socket !== undefined);
  }
}
