import { isFact, type ViewerRequests } from '@belay/protocol';
import type { SandboxService } from '../sandboxes/sandbox.service.js';
import type { EventLog } from '../logs/event-log.js';
import type { ViewerSocket } from './viewer.js';

type Fit = ViewerRequests['terminal.fit'];
type Room = NonNullable<Fit['room']>;

/**
 * How large each terminal is: as the smallest room among those who show it and may type, so that all of them see all
 * of it (tmux's `window-size smallest`). When the last one leaves, it stays as it is.
 */
export class TerminalSizes {
  private readonly shown = new Map<string, Map<ViewerSocket, Room>>();
  private readonly unsubscribe: () => void;

  constructor(
    private readonly sandboxes: Pick<SandboxService, 'agent'>,
    log: Pick<EventLog, 'subscribeAll'>,
  ) {
    // A terminal that is opened anew, as after a restart, does not know who shows it already.
    this.unsubscribe = log.subscribeAll((session, events) => {
      for (const event of events) {
        if (!isFact(event, 'terminal') || event.args.change !== 'opened') continue;
        this.tell(session, event.args.terminal).catch(() => undefined);
      }
    });
  }

  /** Resolves when the agent knows; one that is not there is told when it opens the terminal. */
  set(socket: ViewerSocket, { session, terminal, room }: Fit): Promise<void> {
    const key = keyOf(session, terminal);
    const rooms = this.shown.get(key) ?? new Map<ViewerSocket, Room>();
    if (room) this.shown.set(key, rooms.set(socket, room));
    else if (rooms.delete(socket) && rooms.size === 0) this.shown.delete(key);
    return this.tell(session, terminal);
  }

  /** The viewer left the session, or all of them. */
  remove(socket: ViewerSocket, of?: string): void {
    for (const [key, rooms] of this.shown) {
      const [session = '', terminal = ''] = key.split('/');
      if ((of !== undefined && of !== session) || !rooms.has(socket)) continue;
      this.set(socket, { session, terminal, room: null }).catch(() => undefined);
    }
  }

  close(): void {
    this.unsubscribe();
  }

  private async tell(session: string, terminal: string): Promise<void> {
    const rooms = [...(this.shown.get(keyOf(session, terminal))?.values() ?? [])];
    if (rooms.length === 0) return;
    const columns = Math.min(...rooms.map((room) => room.columns));
    const rows = Math.min(...rooms.map((room) => room.rows));
    await this.sandboxes.agent(session)?.call('terminal.resize', { terminal, columns, rows });
  }
}

const keyOf = (session: string, terminal: string): string => `${session}/${terminal}`;
