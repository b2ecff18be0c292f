import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, errorFrom, ignoreError } from '@belay/protocol';
import type { SandboxPlace } from '../sandboxes/places/free-places.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { SandboxSlots } from './sandbox-slots.js';
import { SessionPlaces } from './session-places.js';
import { StartPayloads } from './start-payloads.js';
import { StartStatus } from './start-status.js';
import { WorkspaceStore } from './workspace.store.js';

/** The delay before a start that found no capacity is tried again. */
const retryDelayMs = 1_000;

/** Starts the sandboxes of sessions. Sessions whose places are full wait, with an event in their log. */
@Injectable()
export class StartQueue implements OnApplicationShutdown {
  readonly #waiting: string[] = [];
  #running = false;
  /** Whether there may be more capacity than the present look at the waiting sessions found. */
  #looksAgain = false;
  #closing = false;

  constructor(
    private readonly sandboxes: SandboxService,
    private readonly workspaces: WorkspaceStore,
    private readonly slots: SandboxSlots,
    private readonly status: StartStatus,
    private readonly payloads: StartPayloads,
    private readonly places: SessionPlaces,
  ) {
    slots.onFree(() => this.#run());
  }

  /**
   * Starts the session’s sandbox as soon as there is capacity. A failure is stored as the session’s state. With
   * `sendsWorkspace`, the client will send the files.
   */
  add(session: string, { sendsWorkspace = false } = {}): void {
    if (sendsWorkspace) this.workspaces.expect(session);
    this.#withdraw(session);
    this.#waiting.push(session);
    this.#run();
  }

  /** Like `add`, for a new session: one whose start is under way is left to that, which a second start would end. */
  begin(session: string, options: { sendsWorkspace: boolean }): void {
    if (!this.slots.has(session)) this.add(session, options);
  }

  /** The log was extended: a connected agent receives the events, otherwise a new one starts from the log. */
  async resume(session: string): Promise<void> {
    // Whoever looks for its sandbox continues it by its log.
    if (this.slots.isUnknown(session)) return;
    const isHere = this.sandboxes.state(session) === 'connected' && !this.slots.isHalting(session);
    // A sandbox that was woken for its files does not have its user’s sign-in.
    if (!isHere || (await this.payloads.isSignedIn(session))) {
      this.add(session);
      return;
    }
    this.slots.keep(session);
    await this.status.report(session, 'running', null);
  }

  /** Starts a sandbox for an ended session, so that its files can be read; the session’s work is not continued. */
  async wake(session: string): Promise<void> {
    await this.slots.inOrder(session, async () => {
      if (this.sandboxes.agent(session)) return;
      const place = await this.places.next(session);
      if (!place || (!this.slots.has(session) && !(await this.#hasCapacity(place, session)))) {
        throw new AppError('limit_reached', 'All sandboxes are in use. Stop a session first.');
      }
      this.slots.take(session, place.id);
      try {
        await this.#start(session, place, { isAsleep: true });
      } catch (error) {
        this.slots.giveBack(session);
        throw error;
      }
    });
    this.slots.linger(session);
  }

  /** A sandbox that is about to end counts as gone: its calls would be cut off. */
  async wakeIfGone(session: string): Promise<void> {
    const isHere = this.sandboxes.agent(session) && !this.slots.isHalting(session);
    if (!isHere) await this.wake(session);
  }

  /** Resolves once a sandbox that is ending has ended. */
  async untilHalted(session: string): Promise<void> {
    if (this.slots.isHalting(session)) await this.slots.inOrder(session, () => Promise.resolve());
  }

  /**
   * Starts a session elsewhere whose machine is being drained; its sandbox there has ended. False when it does not go on.
   */
  async leave(session: string): Promise<boolean> {
    if (!(await this.places.leave(session))) return false;
    this.add(session);
    return true;
  }

  /** Ends the sandbox and keeps its files; a session waiting for a sandbox stops waiting. */
  async halt(session: string, before?: () => Promise<void>): Promise<void> {
    this.#withdraw(session);
    // A start that waits for its workspace would otherwise keep its sandbox until the client has sent everything.
    this.workspaces.end(session, notNeeded());
    await this.slots.halt(session, before);
  }

  /**
   * Ends the sandbox, deletes its files, and calls `removeLog` before any other operation on the sandbox: none starts
   * for a session without a log.
   */
  async discard(session: string, removeLog: () => Promise<void>): Promise<void> {
    this.#withdraw(session);
    this.workspaces.end(session, notNeeded());
    await this.slots.inOrder(session, async () => {
      await this.sandboxes.remove(session);
      await removeLog();
    });
    this.slots.free(session);
  }

  onApplicationShutdown(): void {
    this.#closing = true;
    this.#waiting.length = 0;
  }

  #withdraw(session: string): void {
    this.slots.keep(session);
    const index = this.#waiting.indexOf(session);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  #run(): void {
    this.#looksAgain = true;
    if (this.#running) return;
    this.#running = true;
    void this.#startAll();
  }

  async #startAll(): Promise<void> {
    while (this.#looksAgain) {
      this.#looksAgain = false;
      // Those that start leave the list meanwhile.
      const waiting = this.#waiting.slice();
      for (const session of waiting) {
        if (this.#closing) break;
        await this.#startIfFree(session);
      }
      if (this.#waiting.length > 0 && !this.#closing) await this.#reportWaiting();
    }
    // Synchronous with the last check, so a later entry or more capacity starts a new run.
    this.#running = false;
  }

  /** One whose place is full does not keep others waiting. */
  async #startIfFree(session: string): Promise<void> {
    try {
      const place = await this.places.next(session);
      if (!place || !(await this.#hasCapacity(place, session)) || !this.#isTaken(session)) return;
      this.slots.take(session, place.id);
      void this.slots
        .inOrder(session, async () => {
          // Whoever ends it after this look halts it after its start.
          if (await this.status.isOver(session)) throw notNeeded();
          await this.#start(session, place);
        })
        .catch((error: unknown) => this.#failed(session, errorFrom(error)));
    } catch (error) {
      if (this.#isTaken(session)) await this.#report(session, errorFrom(error));
    }
  }

  /** Takes a session from those that wait; false for one that was withdrawn. */
  #isTaken(session: string): boolean {
    const index = this.#waiting.indexOf(session);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }

  /** Whether a place has capacity for the session, if need be after an ended session has given up its sandbox. */
  async #hasCapacity({ id }: SandboxPlace, session: string): Promise<boolean> {
    while (this.slots.isFull(id, session)) {
      try {
        if (!(await this.slots.freeOldest(id))) return false;
      } catch {
        // An engine that does not respond frees no capacity now.
        this.#runLater();
        return false;
      }
    }
    return true;
  }

  async #start(session: string, place: SandboxPlace, { isAsleep = false } = {}): Promise<void> {
    this.slots.take(session, place.id);
    this.workspaces.begin(session);
    if (this.sandboxes.state(session) !== 'none') await this.sandboxes.stop(session);
    this.slots.startsAgain(session);
    await this.places.settle(session, place);
    const payload = await this.payloads.next(session, { isAsleep });
    const tar = await this.workspaces.source(session, payload.settings);
    await this.sandboxes.start(payload, tar);
    this.workspaces.report(session);
    await this.status.report(session, 'running', this.sandboxes.caution(session));
  }

  async #failed(session: string, error: AppError): Promise<void> {
    if (this.#closing) return;
    this.slots.giveBack(session);
    const isFull = error.code === 'limit_reached';
    // It was stopped meanwhile; its next start requests a sandbox again.
    if (isFull && this.slots.isHalting(session)) return;
    if (isFull) {
      // Other sandboxes use capacity without being counted here, such as those that are ending.
      this.#waiting.unshift(session);
      this.#runLater();
      await this.#reportWaiting();
      return;
    }
    await this.#report(session, error);
    this.#run();
  }

  async #report(session: string, error: AppError): Promise<void> {
    this.workspaces.report(session, error);
    await this.status
      .report(session, 'failed', error.message)
      .catch(ignoreError('a session that was deleted meanwhile has no state'));
  }

  #runLater(): void {
    setTimeout(() => this.#run(), retryDelayMs).unref();
  }

  async #reportWaiting(): Promise<void> {
    for (const [before, session] of [...this.#waiting].entries()) {
      const reason = `Waiting for a free sandbox (${before} ahead of it).`;
      await this.status
        .report(session, 'starting', reason)
        .catch(ignoreError('a session that was deleted meanwhile has no state'));
    }
  }
}

const notNeeded = (): AppError =>
  new AppError('conflict', 'The session was stopped before all of its files had arrived.');
