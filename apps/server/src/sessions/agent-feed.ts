import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ignoreError, type Event } from '@belay/protocol';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { EventLog } from '../logs/event-log.js';
import { SandboxSlots } from './sandbox-slots.js';

/**
 * Sends agents what others write into their session’s log. Events from before an agent began, or from while it was
 * disconnected, are sent when it begins or says hello.
 */
@Injectable()
export class AgentFeed implements OnModuleInit {
  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly slots: SandboxSlots,
  ) {}

  onModuleInit(): void {
    this.log.subscribeAll((session, events) => void this.#send(session, events));
  }

  /** Resolves when the agent has the events, or is gone. */
  async #send(session: string, events: Event[]): Promise<void> {
    // An agent that is ending must not receive the events of the next start.
    if (this.slots.isHalting(session)) return;
    const others = events.filter((event) => event.source !== 'agent');
    if (others.length === 0) return;
    const link = this.sandboxes.agent(session);
    await link
      ?.call('session.events', { events: others })
      .catch(ignoreError('the agent receives them from the log after its next hello'));
  }
}
