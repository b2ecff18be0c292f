import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Event } from '@belay/protocol';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { EventLog } from '../logs/event-log.js';
import { Launcher } from './launcher.js';

/**
 * Tells agents what others write into their session's log. What came before an agent had begun, or while it was
 * away, it is told when it begins or says hello.
 */
@Injectable()
export class AgentFeed implements OnModuleInit {
  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly launcher: Launcher,
  ) {}

  onModuleInit(): void {
    this.log.subscribeAll((session, events) => void this.send(session, events));
  }

  /** Resolves when the agent has them, or is gone. */
  private async send(session: string, events: Event[]): Promise<void> {
    // An agent on its way out must not take a new beginning for its own.
    if (this.launcher.isHalting(session)) return;
    const others = events.filter((event) => event.source !== 'agent');
    if (others.length === 0) return;
    const link = this.sandboxes.agent(session);
    // A lost rope is no failure here: the log has the events, and the next hello brings them.
    await link?.call('session.events', { events: others }).catch(() => undefined);
  }
}
