import { Injectable } from '@nestjs/common';
import { AppError, type NewMessage, type ViewerRequests } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import type { AgentLink } from '../../sandboxes/connection/agent-link.js';
import { SandboxService } from '../../sandboxes/sandbox.service.js';
import { SessionService } from '../../sessions/session.service.js';

/** What users do over the dashboard’s socket. */
@Injectable()
export class ViewerActions {
  constructor(
    readonly sandboxes: SandboxService,
    private readonly sessions: SessionService,
  ) {}

  message(session: string, message: NewMessage, caller: Caller): Promise<void> {
    return this.sessions.message(session, message, caller);
  }

  editMessage({ session, message, text }: ViewerRequests['message.edit']): Promise<void> {
    return this.sessions.editMessage(session, message, text);
  }

  withdrawMessage({ session, message }: ViewerRequests['message.withdraw']): Promise<void> {
    return this.sessions.withdrawMessage(session, message);
  }

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
