import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { errorFrom, ignoreError, newEvent, isEnded, type SessionSummary } from '@belay/protocol';
import { Semaphore } from 'async-mutex';
import { Reconciler } from '../sandboxes/lifecycle/reconciler.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { stateMessage } from '../logs/consequences.js';
import { EventLog } from '../logs/event-log.js';
import { isStorageRefusal } from '../storage/object-store.js';
import { SandboxSlots } from './sandbox-slots.js';
import { isUnchecked } from './session-checks.js';
import { StartQueue } from './start-queue.js';
import { StartStatus } from './start-status.js';

/**
 * The delay before a sandbox is looked for again that could not be looked for, in milliseconds: while the host of
 * containers or the storage is away, and while the storage refuses this server, which somebody has to change.
 */
const lookAgainMs = 500;
const refusedMs = 30_000;
/** Sandboxes of sessions that were stopped at another server that are ended at a time: more only slow each other down. */
const parallelHalts = 4;

/** Updates sessions that come from another server, and when their sandbox exits unexpectedly. */
@Injectable()
export class Recovery implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(Recovery.name);
  readonly #halts = new Semaphore(parallelHalts);
  /** The sessions whose sandboxes could not be looked for so far, with what was said of it. */
  readonly #unfound = new Map<string, string>();
  #closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly reconciler: Reconciler,
    private readonly queue: StartQueue,
    private readonly slots: SandboxSlots,
    private readonly status: StartStatus,
  ) {}

  onApplicationBootstrap(): void {
    this.sandboxes.onLost((session, reason, epoch) => {
      this.#died(session, reason, epoch).catch((error: unknown) => this.#logger.error(error));
    });
  }

  onModuleDestroy(): void {
    this.#closing = true;
  }

  /** Whether the session has a sandbox, also one that has to be removed. */
  hasSandbox(session: string): boolean {
    return this.sandboxes.state(session) !== 'none' || this.slots.has(session);
  }

  /** The session is going to be adopted: until then, it is not known whether it has a sandbox. */
  expect(session: string): void {
    this.slots.setUnknown(session, true);
  }

  /**
   * Sessions with a running sandbox continue; those that have never had one begin; for the others, the log records the loss.
   * One that was handed over to start here begins at once.
   */
  async adopt({ id }: SessionSummary, { isHanded = false } = {}): Promise<void> {
    this.expect(id);
    const looks = this.#lookUnlessNew(id, isHanded);
    const isNew = await looks.finally(() => this.slots.setUnknown(id, false));
    // It may have been stopped since it was taken, or continued by its user.
    const summary = await this.log.summary(id);
    const begins = isNew || (await this.#isBeforeStart(summary));
    // A start of its own may have come meanwhile: it reports what comes of it.
    if (this.#closing || this.slots.has(id)) return;
    const isFound = this.sandboxes.state(id) !== 'none';
    if (isEnded(summary.state)) {
      if (isFound) await this.#keepForFiles(summary);
    } else if (isFound) {
      this.slots.take(id);
      await this.status.report(id, 'running', null);
    } else if (begins) {
      this.queue.add(id);
    } else {
      await this.#lost(id, 'Its sandbox was gone when the server started.');
    }
  }

  /** Whether the session has never had a sandbox. */
  async #lookUnlessNew(session: string, isHanded: boolean): Promise<boolean> {
    const isNew = (await this.log.epoch(session)) === 0;
    if (!(isNew && isHanded)) await this.#lookFor(session);
    return isNew;
  }

  /** One that was paused before its start is so while its agent has done nothing since. */
  async #isBeforeStart({ id, state }: SessionSummary): Promise<boolean> {
    if (state !== 'paused' || this.sandboxes.state(id) !== 'none') return state === 'starting';
    return this.status.isAwaited(id);
  }

  /** The sandbox of a session that has ended. */
  async #keepForFiles(summary: SessionSummary): Promise<void> {
    const { id, state } = summary;
    this.slots.take(id);
    if (state === 'stopped')
      await this.#halts.runExclusive(async () => {
        // It may have been started again meanwhile, which ends this sandbox.
        if ((await this.log.summary(id)).state === 'stopped') await this.slots.halt(id);
      });
    // A session without a check result keeps its sandbox for the check.
    else if (!isUnchecked(summary)) this.slots.linger(id);
  }

  /**
   * Looks until the host of containers and the storage respond, because without them the state of the sandboxes is
   * unknown. A session whose storage refuses this server does not fail: its sandbox may work.
   */
  async #lookFor(session: string): Promise<void> {
    while (this.sandboxes.state(session) === 'none' && !this.#closing) {
      try {
        await this.reconciler.adopt(session);
        break;
      } catch (error) {
        this.#tell(session, error);
        const pauseMs = isStorageRefusal(error) ? refusedMs : lookAgainMs;
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      }
    }
    if (this.#unfound.delete(session)) this.log.absences.end(session);
  }

  /** Once for all sessions of which there is the same to say. */
  #tell(session: string, error: unknown): void {
    const { message } = errorFrom(error);
    const after = ` Sessions wait for this; it is tried again every ${refusedMs / 1_000} s.`;
    if (![...this.#unfound.values()].includes(message))
      this.#logger.warn(message + (isStorageRefusal(error) ? after : ''));
    this.#unfound.set(session, message);
    this.log.absences.begin(session);
  }

  async #died(session: string, reason: string, epoch: number): Promise<void> {
    const startsAnew = this.#startsAnew(session, epoch);
    if (!(await startsAnew.catch(ignoreError('it fails as others that are lost'))))
      await this.#lost(session, reason);
  }

  /** Whether the session has, is getting or waits for a newer sandbox than that of this epoch, which is left to its start. */
  async #startsAnew(session: string, epoch: number): Promise<boolean> {
    if ((await this.log.summary(session)).state === 'starting') {
      if (!this.slots.has(session)) return true;
      await this.slots.inOrder(session, () => Promise.resolve());
    }
    return (await this.log.epoch(session)) > epoch;
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
