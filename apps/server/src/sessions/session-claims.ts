import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ignoreError, isEnded, sentWorkspace } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import { EventLog } from '../logs/event-log.js';
import type { SessionRecord } from '../logs/session-record.js';
import { Reconciler } from '../sandboxes/lifecycle/reconciler.js';
import { ColdChanges } from '../storage/cold-changes.js';
import { LiveServers } from '../storage/live-servers.js';
import type { OnLead, OnWork } from '../storage/on-lead.js';
import { serverId } from '../server-id.js';
import { Takeovers } from './takeovers.js';
import { WorkspaceStore } from './workspace.store.js';

/** How often sessions are looked for that were handed over to this server, in milliseconds. */
const handedMs = 500;
/** How often it is looked which servers have ended, in milliseconds. */
const endedMs = 1_000;

/**
 * Takes sessions while this server works, where several share a database: those that others hand over to it, and as the
 * one that leads those of servers that have ended.
 */
@Injectable()
export class SessionClaims implements OnModuleInit, OnWork, OnLead, OnModuleDestroy {
  readonly #logger = new Logger(SessionClaims.name);
  readonly #turns = new Mutex();
  readonly #timers: NodeJS.Timeout[] = [];
  /** The other servers that were alive at the last look that succeeded. */
  #others: ReadonlySet<string> | undefined;
  #leads = false;
  #closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly servers: LiveServers,
    private readonly reconciler: Reconciler,
    private readonly takeovers: Takeovers,
    private readonly workspaces: WorkspaceStore,
    private readonly changes: ColdChanges,
  ) {}

  onModuleInit(): void {
    if (this.servers.isShared) this.log.claims.prepareBy(async (taken) => this.#expectFiles(taken));
  }

  onWork(): void {
    if (!this.servers.isShared) return;
    // Whoever hands one over tells so; what was missed is found by looking.
    this.changes.follow('handed', (server) => {
      if (server === serverId) void this.takeHanded().catch(ignoreError('it is tried again'));
    });
    this.#repeat(handedMs, () => this.takeHanded());
    this.#repeat(endedMs, () => this.takeLeft());
  }

  /** What was left before this is taken over by then. */
  onLead(): void {
    this.#leads = true;
  }

  onModuleDestroy(): void {
    this.#closing = true;
    for (const timer of this.#timers) clearInterval(timer);
  }

  /**
   * Takes the sessions that other servers have handed over to this one. Resolves when they are this server’s, which then
   * looks for their sandboxes; rejects with `unavailable` while the database cannot be used.
   */
  async takeHanded(): Promise<void> {
    await this.#turns.runExclusive(async () => {
      if (this.#closing) return;
      const claimed = await this.log.claims.handed();
      // Some may be here: after an append that failed, a session is claimed anew.
      const taken = claimed.filter(({ id }) => !this.takeovers.has(id));
      // Not awaited: a host that does not respond would delay the sessions of later claims.
      if (taken.length > 0) void this.takeovers.take(taken, { isHanded: true });
    });
  }

  /**
   * Takes the sessions of servers that have ended, if this server leads, and lets the Reconciler look at what else such a
   * server has left on the same engine. Rejects like `takeHanded`.
   */
  async takeLeft(): Promise<void> {
    await this.#turns.runExclusive(async () => {
      if (this.#closing) return;
      const before = this.#others;
      const others = await this.servers.otherIds();
      const taken = this.#leads ? await this.log.claims.left() : [];
      if (taken.length > 0) {
        this.#logger.log(`This server takes over ${taken.length} sessions of one that has ended.`);
        void this.takeovers.take(taken);
      }
      // Before the first look, one may have ended that the Reconciler has seen alive.
      const hasEnded = !before || [...before].some((id) => !others.has(id));
      if (hasEnded) void this.reconciler.lookAgain();
      this.#others = others;
    });
  }

  /**
   * So that the clients of sessions that have not started can send their files, wherever they begin. A start raises the
   * epoch before it has them, and uses those that were stored, so that the storage is not asked here.
   */
  #expectFiles(taken: readonly SessionRecord[]): void {
    for (const { id, epoch, agentN, settings, summary } of taken) {
      const { state } = summary;
      const mayStart = state === 'starting' || (state === 'paused' && agentN === 0);
      if (epoch > 0 ? !mayStart : isEnded(state)) continue;
      if (settings.workspace === sentWorkspace) this.workspaces.expect(id);
    }
  }

  /** A look that takes longer is not repeated meanwhile; one that fails is. */
  #repeat(everyMs: number, look: () => Promise<void>): void {
    let isLooking = false;
    const timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void look()
        .catch(ignoreError('it is tried again'))
        .finally(() => (isLooking = false));
    }, everyMs);
    this.#timers.push(timer.unref());
  }
}
