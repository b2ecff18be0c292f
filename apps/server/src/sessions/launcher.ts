import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, errorFrom, fact, type SessionState } from '@belay/protocol';
import { Config } from '../config.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { stateMessage } from '../logs/consequences.js';
import { EventLog } from '../logs/event-log.js';
import { WorkspaceStore } from './workspace.store.js';

/** How long the sandbox of an ended session is kept for a person to look around, unless it is needed. */
const lingerMs = 15 * 60_000;
/** After so long a start that the sandboxes had no room for is tried again. */
const retryMs = 1_000;

/**
 * Gives sessions their sandboxes. Those above the limit wait in a queue that they can see; an ended
 * session's sandbox is kept for a while and given up first.
 */
@Injectable()
export class Launcher implements OnApplicationShutdown {
  private readonly queue: string[] = [];
  /** Sessions that have a sandbox, or are being given one. */
  private readonly held = new Set<string>();
  private readonly halting = new Set<string>();
  private readonly lingering = new Map<string, NodeJS.Timeout>();
  /** What is done to one session's sandbox follows in order. */
  private readonly turns = new Map<string, Promise<unknown>>();
  private pumping = false;
  private closing = false;

  constructor(
    private readonly config: Config,
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly workspaces: WorkspaceStore,
  ) {}

  /** Starts the session's sandbox as soon as one is free. What goes wrong becomes the session's state. */
  launch(session: string): void {
    this.forget(session);
    this.queue.push(session);
    this.pump();
  }

  /** A sandbox for an ended session so that its files can be read; its work does not go on. */
  async wake(session: string): Promise<void> {
    await this.inTurn(session, async () => {
      if (this.sandboxes.agent(session)) return;
      if (!this.held.has(session) && this.isFull() && !(await this.makeRoom())) {
        throw new AppError('limit_reached', 'All sandboxes are taken: stop a session first.');
      }
      this.held.add(session);
      try {
        await this.begin(session);
      } catch (error) {
        this.held.delete(session);
        throw error;
      }
    });
    this.linger(session);
  }

  async wakeIfGone(session: string): Promise<void> {
    if (!this.sandboxes.agent(session)) await this.wake(session);
  }

  /** Ends the sandbox and keeps its files. */
  async halt(session: string, before: () => Promise<void> = nothing): Promise<void> {
    this.forget(session);
    this.halting.add(session);
    try {
      await this.inTurn(session, async () => {
        await before();
        await this.sandboxes.stop(session);
        this.held.delete(session);
      });
    } catch (error) {
      // The engine kept it: it is given up later, unless somebody has asked for it again.
      if (!this.turns.has(session)) this.linger(session);
      throw error;
    } finally {
      this.halting.delete(session);
    }
    this.pump();
  }

  /** From now on its agent is told nothing more: the next one gets the log. Until `launch`. */
  relieve(session: string): void {
    this.halting.add(session);
  }

  /** Whether the sandbox is about to end: what is said to its agent now would be lost. */
  isHalting(session: string): boolean {
    return this.halting.has(session);
  }

  /** Ends the sandbox and deletes its files. */
  async discard(session: string): Promise<void> {
    this.forget(session);
    await this.inTurn(session, () => this.sandboxes.remove(session));
    this.release(session);
  }

  /** A sandbox that runs already, found at the server's start. */
  adopt(session: string): void {
    this.held.add(session);
  }

  /** The sandbox is gone by itself. */
  release(session: string): void {
    this.keep(session);
    this.held.delete(session);
    this.pump();
  }

  /** The session has ended: its sandbox may be taken from now on. */
  linger(session: string): void {
    if (!this.held.has(session) || this.closing) return;
    this.keep(session);
    const timer = setTimeout(() => void this.halt(session).catch(nothing), lingerMs);
    this.lingering.set(session, timer.unref());
    this.pump();
  }

  /** It works again. */
  keep(session: string): void {
    clearTimeout(this.lingering.get(session));
    this.lingering.delete(session);
  }

  onApplicationShutdown(): void {
    this.closing = true;
    this.queue.length = 0;
    for (const timer of this.lingering.values()) clearTimeout(timer);
  }

  private forget(session: string): void {
    this.keep(session);
    const place = this.queue.indexOf(session);
    if (place >= 0) this.queue.splice(place, 1);
  }

  private pump(): void {
    if (this.pumping) return;
    this.pumping = true;
    void this.startAll();
  }

  private async startAll(): Promise<void> {
    while (this.queue.length > 0 && !this.closing) {
      if (this.isFull() && !(await this.makeRoom())) {
        await this.tellQueue();
        if (this.isFull()) break;
        continue;
      }
      const session = this.queue.shift();
      if (session === undefined) break;
      this.held.add(session);
      void this.inTurn(session, () => this.begin(session)).catch((error: unknown) =>
        this.notBegun(session, errorFrom(error)),
      );
    }
    // In the same turn as the last look at the queue: what comes after it is started anew.
    this.pumping = false;
  }

  private isFull(): boolean {
    return this.held.size >= this.config.maxSandboxes;
  }

  /** Gives up the sandbox that has lingered longest. */
  private async makeRoom(): Promise<boolean> {
    const [oldest] = this.lingering.keys();
    if (oldest === undefined) return false;
    try {
      await this.halt(oldest);
      return true;
    } catch {
      // An engine that does not answer gives nothing back now.
      setTimeout(() => this.pump(), retryMs).unref();
      return false;
    }
  }

  private async begin(session: string): Promise<void> {
    this.held.add(session);
    if (this.sandboxes.state(session) !== 'none') await this.sandboxes.stop(session);
    this.halting.delete(session);
    const epoch = await this.log.nextEpoch(session);
    const settings = await this.log.settings(session);
    const events = await this.log.read(session, { after: 0 });
    const tar = await this.workspaces.source(session, settings.workspace);
    await this.sandboxes.start({ session, settings, events, epoch }, tar);
    await this.become(session, 'running', null);
  }

  private async notBegun(session: string, error: AppError): Promise<void> {
    if (this.closing) return;
    this.held.delete(session);
    // Stopped while it was refused: whoever starts it again asks for a sandbox of its own.
    if (error.code === 'limit_reached' && this.halting.has(session)) return;
    if (error.code === 'limit_reached') {
      // Others hold sandboxes that are not counted here, such as those that just end.
      this.queue.unshift(session);
      setTimeout(() => this.pump(), retryMs).unref();
      await this.tellQueue();
      return;
    }
    await this.become(session, 'failed', error.message).catch(nothing);
    this.pump();
  }

  private async tellQueue(): Promise<void> {
    for (const [before, session] of [...this.queue].entries()) {
      const reason = `Waiting for a free sandbox (${before} before it).`;
      await this.become(session, 'starting', reason).catch(nothing);
    }
  }

  /** Only a session that still starts changes: a person may have stopped it meanwhile. */
  async become(session: string, state: SessionState, reason: string | null): Promise<void> {
    const args = { state, reason };
    const become = () =>
      this.log.append(session, (summary) => {
        if (summary.state !== 'starting') return [];
        if (summary.state === state && summary.reason === reason) return [];
        return [fact('server', 'state', { args, message: stateMessage(args) })];
      });
    await this.log.stalls.whenRoom(session, become);
  }

  private async inTurn(session: string, work: () => Promise<void>): Promise<void> {
    const before = this.turns.get(session) ?? Promise.resolve();
    const turn = before.catch(nothing).then(work);
    this.turns.set(session, turn);
    try {
      await turn;
    } finally {
      if (this.turns.get(session) === turn) this.turns.delete(session);
    }
  }
}

const nothing = (): Promise<void> => Promise.resolve();
