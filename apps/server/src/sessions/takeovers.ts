import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { ignoreError, isEnded, type SessionSummary } from '@belay/protocol';
import type { OnLead } from '../storage/on-lead.js';
import { WireCalls } from '../agents/wire-calls.js';
import { EventLog } from '../logs/event-log.js';
import { Deadlines } from '../models/deadlines.js';
import { WireGateway } from '../models/wire/wire-gateway.js';
import { Recovery } from './recovery.js';
import { isUnchecked, SessionChecks } from './session-checks.js';

/** How often sessions that need no server are looked for, in milliseconds. */
const releaseMs = 60_000;

/** What this server does for the sessions that it takes over from one that has ended, before and while it works on them. */
@Injectable()
export class Takeovers implements OnLead, OnModuleDestroy {
  readonly #logger = new Logger(Takeovers.name);
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

  async onLead(): Promise<void> {
    const taken = await this.log.owned();
    for (const session of taken) {
      await this.gateway.settleOpen(session);
      await this.calls.rejectOpen(session);
      this.deadlines.schedule(session);
    }
    // Until then, no program of an agent is answered.
    this.gateway.decideBy(this.calls);
    const adopted = taken.map((session) =>
      this.recovery.adopt(session).catch((error: unknown) => this.#logger.error(error)),
    );
    void this.#repeatChecks(taken);
    void Promise.all(adopted).then(() => this.#release());
    this.#releasing = setInterval(() => void this.#release(), releaseMs).unref();
  }

  onModuleDestroy(): void {
    this.#closing = true;
    clearInterval(this.#releasing);
  }

  /** Those that were left without a result, one after another. */
  async #repeatChecks(taken: readonly SessionSummary[]): Promise<void> {
    for (const session of taken) {
      if (this.#closing) return;
      if (isUnchecked(session)) await this.checks.run(session.id);
    }
  }

  /** So that the next server need not look at them. */
  async #release(): Promise<void> {
    for (const session of await this.log.owned()) {
      if (this.#closing) return;
      if (isEnded(session.state) && !isUnchecked(session) && !this.recovery.hasSandbox(session.id))
        await this.log
          .release(session.id)
          .catch(ignoreError('it was removed, or is looked at again later'));
    }
  }
}
