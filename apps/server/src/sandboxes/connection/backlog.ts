import { ignoreError, type Event } from '@belay/protocol';
import type { EventLog } from '../../logs/event-log.js';
import type { AgentConnection } from './agent-link.js';

/**
 * The events that a session’s agent did not write, from one event on until the agent receives events live. Events
 * written while earlier ones are being sent wait here, so none is missed.
 */
export class Backlog {
  #events: Event[] = [];
  #last: number;
  readonly #unsubscribe: () => void;

  private constructor(log: EventLog, session: string, after: number) {
    this.#last = after;
    this.#unsubscribe = log.subscribe(session, (events) => this.#events.push(...events));
  }

  static async open(log: EventLog, session: string, after: number): Promise<Backlog> {
    const backlog = new Backlog(log, session, after);
    try {
      const stored = await log.read(session, { after });
      backlog.#events = [...stored, ...backlog.#events];
      return backlog;
    } catch (error) {
      backlog.close();
      throw error;
    }
  }

  /** The events collected so far, each once. */
  take(): Event[] {
    const taken: Event[] = [];
    for (const event of this.#events) {
      if (event.seq <= this.#last) continue;
      this.#last = event.seq;
      if (event.source !== 'agent') taken.push(event);
    }
    this.#events = [];
    return taken;
  }

  /** Sends the rest. Events written after this call are sent live, and arrive after it. */
  handOver(connection: AgentConnection): void {
    const events = this.take();
    this.close();
    if (events.length === 0) return;
    connection
      .call('session.events', { events })
      .catch(ignoreError('the agent receives them after its next hello'));
  }

  close(): void {
    this.#unsubscribe();
  }
}
