import { Logger } from '@nestjs/common';
import type { Event, SessionSummary } from '@belay/protocol';

export type LogListener = (events: Event[]) => void;
export type FleetListener = (session: string, events: Event[], summary: SessionSummary) => void;
/** Gets null for a session that was deleted by another server. */
export type SummaryChangeListener = (session: string, summary: SessionSummary | null) => void;
/** Of a session that another server works on from now on, or no longer. */
export type MoveListener = (session: string) => void;
/** Of a session that this server owns from now on, by a claim or by its first append. */
export type BeginListener = (session: string) => void;

/**
 * The listeners of single sessions, and those of all. An error in one listener does not keep events from the others.
 */
export class LogListeners {
  readonly #logger = new Logger(LogListeners.name);
  readonly #sessions = new Map<string, Set<LogListener>>();
  readonly #fleet = new Set<FleetListener>();
  readonly #summaries = new Set<SummaryChangeListener>();
  readonly #moves = new Set<MoveListener>();
  readonly #begins = new Set<BeginListener>();

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

  addForSummaries(listener: SummaryChangeListener): () => void {
    this.#summaries.add(listener);
    return () => void this.#summaries.delete(listener);
  }

  addForMoves(listener: MoveListener): () => void {
    this.#moves.add(listener);
    return () => void this.#moves.delete(listener);
  }

  addForBegins(listener: BeginListener): void {
    this.#begins.add(listener);
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
    this.publishSummary(summary.id, summary);
  }

  /** Of any session: also of one that is not this server’s. */
  publishSummary(session: string, summary: SessionSummary | null): void {
    for (const listener of this.#summaries) this.#notify(() => listener(session, summary));
  }

  publishMove(session: string): void {
    for (const listener of this.#moves) this.#notify(() => listener(session));
  }

  publishBegin(session: string): void {
    for (const listener of this.#begins) this.#notify(() => listener(session));
  }

  #notify(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#logger.error(error);
    }
  }
}
