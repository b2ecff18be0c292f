import { Injectable } from '@nestjs/common';
import { AppError, type ViewerRequests } from '@belay/protocol';
import type { AgentLink } from '../../sandboxes/connection/agent-link.js';
import { SandboxService } from '../../sandboxes/sandbox.service.js';

/** Users’ terminal input from the dashboard’s socket. */
@Injectable()
export class TerminalInput {
  constructor(readonly sandboxes: SandboxService) {}

  async keys({ session, ...keys }: ViewerRequests['terminal.keys']): Promise<void> {
    await this.#agent(session).call('terminal.keys', keys);
  }

  async hold({ session, ...hold }: ViewerRequests['terminal.hold']): Promise<void> {
    await this.#agent(session).call('terminal.hold', hold);
  }

  async open({ session, terminal }: ViewerRequests['terminal.open']): Promise<void> {
    await this.#agent(session).call('terminal.open', { terminal });
  }

  #agent(session: string): AgentLink {
    const link = this.sandboxes.agent(session);
    if (link) return link;
    throw new AppError('conflict', 'The session has no sandbox now. Restart it.');
  }
}
