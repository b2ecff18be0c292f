import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { ignoreError, isEnded, type SessionSummary } from '@belay/protocol';
import { Mutex, Semaphore } from 'async-mutex';
import { lease } from '../storage/lease.js';
import type { OnLead, OnWork } from '../storage/on-lead.js';
import { WireCalls } from '../agents/wire-calls.js';
import { EventLog } from '../logs/event-log.js';
import { Deadlines } from '../models/deadlines.js';
import { WireGateway } from '../models/wire/wire-gateway.js';
import { Recovery } from './recovery.js';
import { isUnchecked, SessionChecks } from './session-checks.js';

/** How often sessions that need no server are looked for, in milliseconds. */
const releaseMs = 60_000;
/** Sessions whose open requests are settled at a time: each takes a connection to the database. */
const parallelSettles = 4;

export interface TakeOptions {
  /** The sessions that another server has handed over to this one, which may go on there at once. */
  isHanded?: boolean;
}

/**
 * What this server does for the sessions that it takes over from one that has ended, or gets from another one, before and
 * while it works on them.
 */
@Injectable()
export class Takeovers implements OnWork, OnLead, OnModuleDestroy {
  readonly #logger = new Logger(Takeovers.name);
  readonly #settles = new Semaphore(parallelSettles);
  readonly #checks = new Mutex();
  #releasing: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly gateway: WireGateway,
    private readonly calls: WireCalls,
    private readonly deadlines: Deadlines,
    private readonly recovery: Recovery,
    private readonly checks: SessionChecks,
  ) {}

  /** A server that does not lead has no sessions yet whose programs would have to wait. */
  onWork(): void {
    if (!lease.isHeld) this.#begin();
  }

  async onLead(): Promise<void> {
    const taken = await this.log.takenToLead();
    for (const { id } of taken) this.recovery.expect(id);
    for (const session of taken) await this.#settle(session);
    // Until then, no program of an agent is answered.
    this.#begin();
    const adopted = Promise.all(taken.map((session) => this.#adopt(session)));
    void adopted.then(() => this.#release());
  }

  /**
   * Continues sessions that this server has become the owner of, each as soon as it can. Resolves when it is known how
   * all of them do; never rejects.
   */
  async take(taken: readonly SessionSummary[], options: TakeOptions = {}): Promise<void> {
    for (const { id } of taken) this.recovery.expect(id);
    const takeOne = async (session: SessionSummary): Promise<void> => {
      await this.#settles
        .runExclusive(() => this.#settle(session))
        .catch((error: unknown) => this.#logger.error(error));
      await this.#adopt(session, options);
    };
    await Promise.all(taken.map(takeOne));
  }

  /** Whether a session has a sandbox here, so that it was taken before. */
  has(session: string): boolean {
    return this.recovery.hasSandbox(session);
  }

  #begin(): void {
    this.gateway.decideBy(this.calls);
    this.#releasing ??= setInterval(() => void this.#release(), releaseMs).unref();
  }

  /** What was under way at the server before has ended. */
  async #settle(session: SessionSummary): Promise<void> {
    await this.gateway.settleOpen(session);
    await this.calls.rejectOpen(session);
    this.deadlines.schedule(session);
  }

  async #adopt(session: SessionSummary, options: TakeOptions = {}): Promise<void> {
    await this.recovery
      .adopt(session, options)
      .catch((error: unknown) => this.#logger.error(error));
    // In the sandbox that is there: one that is still looked for would get a second one.
    void this.#checks.runExclusive(() => this.#repeatCheck(session.id));
  }

  onModuleDestroy(): void {
    this.#closing = true;
    clearInterval(this.#releasing);
  }

  /** That of a session that was left without a result, one session after another. */
  async #repeatCheck(id: string): Promise<void> {
    if (this.#closing) return;
    // It may work again by now, and may have been removed.
    const session = await this.log.summary(id).catch(ignoreError('it has no check to repeat'));
    if (session && isUnchecked(session)) await this.checks.run(id);
  }

  /** So that the next server need not look at them. */
  async #release(): Promise<void> {
    for (const session of await this.log.owned()) {
      if (this.#closing) return;
      if (isEnded(session.state) && !isUnchecked(session) && !this.recovery.hasSandbox(session.id))
        await this.log
          .release(session.id, ({ state }) => !isEnded(state))
          .catch(ignoreError('it was removed, or is looked at again later'));
    }
  }
}
