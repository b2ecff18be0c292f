import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, errorFrom, ignoreError } from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { SandboxSlots } from './sandbox-slots.js';
import { SignIns } from './sign-ins.js';
import { StartStatus } from './start-status.js';
import { WorkspaceStore } from './workspace.store.js';

/** The delay before a start that found no capacity is tried again. */
const retryDelayMs = 1_000;

/** Starts the sandboxes of sessions. Sessions above the limit wait, with an event in their log. */
@Injectable()
export class StartQueue implements OnApplicationShutdown {
  readonly #waiting: string[] = [];
  #running = false;
  #closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly workspaces: WorkspaceStore,
    private readonly slots: SandboxSlots,
    private readonly status: StartStatus,
    private readonly signIns: SignIns,
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

  /** The log was extended: a connected agent receives the events, otherwise a new one starts from the log. */
  async resume(session: string): Promise<void> {
    const { agent } = await this.log.settings(session);
    const isHere = this.sandboxes.state(session) === 'connected' && !this.slots.isHalting(session);
    // A sandbox that was woken for its files does not have its user’s sign-in.
    if (!isHere || agent?.login !== undefined) {
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
      if (!this.slots.has(session) && this.slots.isFull && !(await this.#freeOne())) {
        throw new AppError('limit_reached', 'All sandboxes are in use. Stop a session first.');
      }
      this.slots.take(session);
      try {
        await this.#start(session, { isAsleep: true });
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
    if (this.#running) return;
    this.#running = true;
    void this.#startAll();
  }

  async #startAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closing) {
      if (this.slots.isFull && !(await this.#freeOne())) {
        await this.#reportWaiting();
        if (this.slots.isFull) break;
        continue;
      }
      const session = this.#waiting.shift();
      if (session === undefined) break;
      this.slots.take(session);
      void this.slots
        .inOrder(session, () => this.#start(session))
        .catch((error: unknown) => this.#failed(session, errorFrom(error)));
    }
    // Synchronous with the last check of the list, so a later entry starts a new run.
    this.#running = false;
  }

  async #freeOne(): Promise<boolean> {
    try {
      return await this.slots.freeOldest();
    } catch {
      // An engine that does not respond frees no capacity now.
      this.#runLater();
      return false;
    }
  }

  /** A session that stays asleep does not get the sign-in of its agent, which nothing would use. */
  async #start(session: string, { isAsleep = false } = {}): Promise<void> {
    this.slots.take(session);
    this.workspaces.begin(session);
    if (this.sandboxes.state(session) !== 'none') await this.sandboxes.stop(session);
    this.slots.startsAgain(session);
    const epoch = await this.log.nextEpoch(session);
    const { agent, ...others } = await this.log.settings(session);
    const isSignedIn = agent?.login !== undefined;
    if (isSignedIn && !isAsleep) await this.signIns.take(session, agent);
    const settings = { ...others, ...(agent && !(isSignedIn && isAsleep) && { agent }) };
    const events = await this.log.read(session, { after: 0 });
    const tar = await this.workspaces.source(session, settings);
    await this.sandboxes.start({ session, settings, events, epoch }, tar);
    this.workspaces.report(session);
    await this.status.report(session, 'running', null);
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
    this.workspaces.report(session, error);
    await this.status
      .report(session, 'failed', error.message)
      .catch(ignoreError('a session that was deleted meanwhile has no state'));
    this.#run();
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
