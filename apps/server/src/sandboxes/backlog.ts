import type { Event } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';
import type { AgentRope } from './agent-link.js';

/**
 * What others than the agent write into a session’s log, without a gap, from one event on until the moment when
 * the agent hears of them as they come: whatever is written while it is being told waits here for its turn.
 */
export class Backlog {
  private events: Event[] = [];
  private last: number;
  private readonly unsubscribe: () => void;

  private constructor(log: EventLog, session: string, after: number) {
    this.last = after;
    this.unsubscribe = log.subscribe(session, (events) => this.events.push(...events));
  }

  static async open(log: EventLog, session: string, after: number): Promise<Backlog> {
    const backlog = new Backlog(log, session, after);
    try {
      const stored = await log.read(session, { after });
      backlog.events = [...stored, ...backlog.events];
      return backlog;
    } catch (error) {
      backlog.close();
      throw error;
    }
  }

  /** What is there by now, each event once. */
  take(): Event[] {
    const taken: Event[] = [];
    for (const event of this.events) {
      if (event.seq <= this.last) continue;
      this.last = event.seq;
      if (event.source !== 'agent') taken.push(event);
    }
    this.events = [];
    return taken;
  }

  /** Sends the rest; what is written after this call is sent by others, and arrives after it. */
  handOver(rope: AgentRope): void {
    const events = this.take();
    this.close();
    // A lost rope is no failure here: the next hello brings them.
    if (events.length > 0) rope.call('session.events', { events }).catch(() => {});
  }

  close(): void {
    this.unsubscribe();
  }
}
