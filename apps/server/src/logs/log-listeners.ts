import { Logger } from '@nestjs/common';
import type { Event, SessionSummary } from '@belay/protocol';

export type LogListener = (events: Event[]) => void;
export type FleetListener = (session: string, events: Event[], summary: SessionSummary) => void;

/**
 * The listeners of single sessions, and those of all. An error in one listener does not keep events from the others.
 */
export class LogListeners {
  readonly #logger = new Logger(LogListeners.name);
  readonly #sessions = new Map<string, Set<LogListener>>();
  readonly #fleet = new Set<FleetListener>();

  /** Returns a function that unsubscribes. */
  add(session: string, listener: LogListener): () => void {
    const listeners = this.#sessions.get(session) ?? new Set();
    this.#sessions.set(session, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#sessions.get(session) === listeners) {
        this.#sessions.delete(session);
      }
    };
  }

  addForAll(listener: FleetListener): () => void {
    this.#fleet.add(listener);
    return () => void this.#fleet.delete(listener);
  }

  remove(session: string): void {
    this.#sessions.delete(session);
  }

  publish(summary: SessionSummary, events: Event[]): void {
    const listeners = this.#sessions.get(summary.id) ?? [];
    for (const listener of listeners) this.#notify(() => listener(events));
    this.publishToFleet(summary, events);
  }

  /** Without events: only what is shown of the session has changed. */
  publishToFleet(summary: SessionSummary, events: Event[]): void {
    for (const listener of this.#fleet) this.#notify(() => listener(summary.id, events, summary));
  }

  #notify(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#logger.error(error);
    }
  }
}
