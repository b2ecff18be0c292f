import { ignoreError, isEvent, type ViewerRequests } from '@belay/protocol';
import type { SandboxService } from '../../sandboxes/sandbox.service.js';
import type { EventLog } from '../../logs/event-log.js';
import type { ShownPart } from '../../sessions/feed/follower.js';
import type { DashboardSocket } from './dashboard-socket.js';

type Fit = ViewerRequests['terminal.fit'];
type Size = NonNullable<Fit['size']>;

/**
 * The size of each terminal: the smallest among the viewers who may type, so that all of them see the whole
 * terminal (tmux’s `window-size smallest`). It is kept when the last viewer leaves.
 */
export class TerminalSizes {
  readonly #shown = new Map<string, Map<DashboardSocket, Size>>();
  readonly #endings: (() => void)[];

  constructor(
    private readonly sandboxes: Pick<SandboxService, 'agent' | 'onAgent'>,
    log: Pick<EventLog, 'subscribeAll'>,
  ) {
    const tell = (session: string, terminal: string): void =>
      void this.#notifyAgent(session, terminal).catch(
        ignoreError('an agent that is gone receives it when it opens the terminal'),
      );
    this.#endings = [
      // A terminal that is reopened, as after a restart, has lost its size.
      log.subscribeAll((session, events) => {
        for (const event of events)
          if (isEvent(event, 'terminal') && event.args.change === 'opened')
            tell(session, event.args.terminal);
      }),
      // What was shown while this server could not call the agent.
      sandboxes.onAgent((session) => {
        for (const key of this.#shown.keys()) {
          const [of, terminal = ''] = key.split('/');
          if (of === session) tell(session, terminal);
        }
      }),
    ];
  }

  /** Resolves when the agent has the size; an agent that is not running receives it when it opens the terminal. */
  set(socket: DashboardSocket, { session, terminal, size }: Fit): Promise<void> {
    const key = keyOf(session, terminal);
    const sizes = this.#shown.get(key) ?? new Map<DashboardSocket, Size>();
    if (size) this.#shown.set(key, sizes.set(socket, size));
    else if (sizes.delete(socket) && sizes.size === 0) this.#shown.delete(key);
    return this.#notifyAgent(session, terminal);
  }

  /** The viewer left the session, or all of them. */
  remove(socket: DashboardSocket, of?: string): void {
    for (const [key, sizes] of this.#shown) {
      const [session = '', terminal = ''] = key.split('/');
      if ((of !== undefined && of !== session) || !sizes.has(socket)) continue;
      this.set(socket, { session, terminal, size: null }).catch(
        ignoreError('an agent that is gone receives it when it opens the terminal'),
      );
    }
  }

  /** What a viewer shows of a session. */
  of(socket: DashboardSocket, session: string): ShownPart[] {
    return [...this.#shown].flatMap(([key, sizes]) => {
      const size = sizes.get(socket);
      const [at, terminal = ''] = key.split('/');
      return size && at === session
        ? [{ name: 'terminal.fit', input: { session, terminal, size } }]
        : [];
    });
  }

  close(): void {
    for (const end of this.#endings) end();
  }

  async #notifyAgent(session: string, terminal: string): Promise<void> {
    const sizes = [...(this.#shown.get(keyOf(session, terminal))?.values() ?? [])];
    if (sizes.length === 0) return;
    const columns = Math.min(...sizes.map((size) => size.columns));
    const rows = Math.min(...sizes.map((size) => size.rows));
    await this.sandboxes.agent(session)?.call('terminal.resize', { terminal, columns, rows });
  }
}

const keyOf = (session: string, terminal: string): string => `${session}/${terminal}`;
