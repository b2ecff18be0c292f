import { Injectable, Logger } from '@nestjs/common';
import { errorFrom } from '@belay/protocol';
import { AgentInstaller } from '../agents/agent-installer.js';
import { SessionRemoval } from './session-removal.js';

/** Removes the files of replaced agents with the last session that has them. */
@Injectable()
export class AgentLeftovers {
  readonly #logger = new Logger(AgentLeftovers.name);

  constructor(removal: SessionRemoval, installer: AgentInstaller) {
    removal.onRemoved(() => {
      installer
        .sessionRemoved()
        .catch((error: unknown) => this.#logger.warn(errorFrom(error).message));
    });
  }
}
