import { Injectable, Logger } from '@nestjs/common';
import { errorFrom } from '@belay/protocol';
import { AgentInstaller } from '../agents/agent-installer.js';
import { EventLog } from '../logs/event-log.js';
import { lease } from '../storage/lease.js';
import { SessionRemoval } from './session-removal.js';

/**
 * Removes the files of replaced agents with the last session that has them, on whichever server that was: the one that
 * leads does, which may be installing the same agent.
 */
@Injectable()
export class AgentLeftovers {
  readonly #logger = new Logger(AgentLeftovers.name);

  constructor(
    removal: SessionRemoval,
    log: EventLog,
    private readonly installer: AgentInstaller,
  ) {
    removal.onRemoved(() => this.#remove());
    log.subscribeSummaries((_session, summary) => {
      if (!summary) this.#remove();
    });
  }

  #remove(): void {
    if (!lease.isHeld) return;
    this.installer
      .sessionRemoved()
      .catch((error: unknown) => this.#logger.warn(errorFrom(error).message));
  }
}
