import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ignoreError, newEvent, isEnded, type SessionSummary } from '@belay/protocol';
import { ContainerHost } from '@belay/containers';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { stateMessage } from '../logs/consequences.js';
import { EventLog } from '../logs/event-log.js';
import { SandboxSlots } from './sandbox-slots.js';
import { isUnchecked } from './session-checks.js';
import { StartQueue } from './start-queue.js';
import { StartStatus } from './start-status.js';

/** How long sandboxes may take to be adopted after the engine is available again. */
const adoptionTimeoutMs = 10_000;
const intervalMs = 500;

/** Updates sessions that come from another server, and when their sandbox exits unexpectedly. */
@Injectable()
export class Recovery implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(Recovery.name);
  #closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly host: ContainerHost,
    private readonly queue: StartQueue,
    private readonly slots: SandboxSlots,
    private readonly status: StartStatus,
  ) {}

  onApplicationBootstrap(): void {
    this.sandboxes.onLost((session, reason) => {
      this.#lost(session, reason).catch((error: unknown) => this.#logger.error(error));
    });
  }

  onModuleDestroy(): void {
    this.#closing = true;
  }

  /** Whether the session has a sandbox, also one that has to be removed. */
  hasSandbox(session: string): boolean {
    return this.sandboxes.state(session) !== 'none' || this.slots.has(session);
  }

  /**
   * Sessions with a running sandbox continue; those that have never had one begin; for the others, the log records the loss.
   * One that was handed over to start here begins at once.
   */
  async adopt(summary: SessionSummary, { isHanded = false } = {}): Promise<void> {
    const { id, state } = summary;
    if (isEnded(state)) {
      if (this.sandboxes.state(id) === 'none') return;
      this.slots.take(id);
      if (state === 'stopped') await this.slots.halt(id);
      // A session without a check result keeps its sandbox for the check.
      else if (!isUnchecked(summary)) this.slots.linger(id);
      return;
    }
    const isNew = (await this.log.epoch(id)) === 0;
    const isFound = !(isNew && isHanded) && (await this.#isFoundAgain(id));
    if (this.#closing) return;
    if (isFound) {
      this.slots.take(id);
      await this.status.report(id, 'running', null);
    } else if (isNew || state === 'starting') {
      // It may have been stopped since it was taken.
      if (!isEnded((await this.log.summary(id)).state)) this.queue.add(id);
    } else {
      await this.#lost(id, 'Its sandbox was gone when the server started.');
    }
  }

  /** Waits for the host of containers, because without it the state of the sandboxes is unknown. */
  async #isFoundAgain(session: string): Promise<boolean> {
    let remainingMs = 0;
    while (this.sandboxes.state(session) === 'none' && !this.#closing) {
      const [host] = await this.host.checks();
      if (!host?.ok) remainingMs = adoptionTimeoutMs;
      else if (remainingMs <= 0) return this.sandboxes.state(session) !== 'none';
      await new Promise((resolve) => setTimeout(resolve, intervalMs).unref());
      remainingMs -= intervalMs;
    }
    return true;
  }

  async #lost(session: string, reason: string): Promise<void> {
    this.slots.giveBack(session);
    const leave = this.queue.leave(session);
    // One whose machine is being drained goes on elsewhere.
    if (await leave.catch(ignoreError('it fails as others that are lost'))) return;
    const stated = /[.!?]$/.test(reason) ? reason : `${reason}.`;
    const args = { state: 'failed' as const, reason: `${stated} Restart the session to continue.` };
    try {
      const fail = () =>
        this.log.append(session, ({ state }) =>
          isEnded(state)
            ? []
            : [newEvent('server', 'state', { args, message: stateMessage(args) })],
        );
      await this.log.stalls.whenSpace(session, fail);
    } finally {
      this.slots.free(session);
    }
  }
}
