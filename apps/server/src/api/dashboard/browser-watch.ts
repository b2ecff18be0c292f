import { ignoreError, isEvent } from '@belay/protocol';
import type { SandboxService } from '../../sandboxes/sandbox.service.js';
import type { EventLog } from '../../logs/event-log.js';
import type { ShownPart } from '../../sessions/feed/follower.js';
import type { DashboardSocket } from './dashboard-socket.js';
import type { TransientNotices } from '../../logs/transient-notices.js';

/** The viewers of each browser. An agent takes screenshots only while it has viewers. */
export class BrowserWatch {
  readonly #watchers = new Map<string, Set<DashboardSocket>>();
  readonly #endings: (() => void)[];

  constructor(
    private readonly sandboxes: SandboxService,
    log: EventLog,
    live: TransientNotices,
  ) {
    const show = (frame: Parameters<Parameters<typeof live.on<'frame'>>[1]>[0]): void => {
      for (const { data } of this.#watchers.get(frame.session) ?? [])
        data.follower.showFrame(frame);
    };
    live.on('frame', show);
    this.#endings = [
      () => live.off('frame', show),
      log.subscribeAll((session, events) => {
        const begins = events.some(
          (event) => isEvent(event, 'state') && event.args.state === 'running',
        );
        if (begins && this.#watchers.has(session)) this.#notifyAgent(session, true);
      }),
      // Viewers may have come, or left, while this server could not call the agent.
      sandboxes.onAgent((session) => this.#notifyAgent(session, this.#watchers.has(session))),
    ];
  }

  set(socket: DashboardSocket, session: string, watched: boolean): void {
    const watchers = this.#watchers.get(session) ?? new Set();
    const before = watchers.size;
    if (watched) watchers.add(socket);
    else watchers.delete(socket);
    if (watchers.size > 0) this.#watchers.set(session, watchers);
    else this.#watchers.delete(session);
    if (before === 0 && watchers.size === 1) this.#notifyAgent(session, true);
    if (before === 1 && watchers.size === 0) this.#notifyAgent(session, false);
  }

  remove(socket: DashboardSocket): void {
    for (const session of this.#watchers.keys()) this.set(socket, session, false);
  }

  /** Whether a viewer shows the browser of a session. */
  of(socket: DashboardSocket, session: string): ShownPart[] {
    const isShown = this.#watchers.get(session)?.has(socket) === true;
    return isShown ? [{ name: 'browser.watch', input: { session, watched: true } }] : [];
  }

  close(): void {
    for (const end of this.#endings) end();
  }

  #notifyAgent(session: string, watched: boolean): void {
    void this.sandboxes
      .agent(session)
      ?.call('browser.watch', { watched })
      .catch(ignoreError('an agent that is not running is notified when it runs again'));
  }
}
