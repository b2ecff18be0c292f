import { isEnded, type SessionSummary } from '@belay/protocol';
import type { LogListeners } from './log-listeners.js';

/**
 * What this server is told of the sessions of other servers: that they change or move, and how they are shown there, which
 * is not all in their logs.
 */
export class Elsewhere {
  readonly #shown = new Map<string, { server: string; summary: SessionSummary }>();

  constructor(private readonly listeners: LogListeners) {}

  /** A session has changed; null if it was deleted. */
  changed(session: string, summary: SessionSummary | null): void {
    if (!summary) this.#shown.delete(session);
    this.listeners.publishSummary(session, summary);
  }

  /** Another server has begun to work on a session, or no longer does. */
  moved(session: string): void {
    this.#shown.delete(session);
    this.listeners.publishMove(session);
  }

  /** How a server shows one of its sessions. */
  show(server: string, summary: SessionSummary): void {
    if (isEnded(summary.state)) this.#shown.delete(summary.id);
    else this.#shown.set(summary.id, { server, summary });
    this.listeners.publishSummary(summary.id, summary);
  }

  /** Nothing more is told by this server. */
  forget(server: string): void {
    for (const [session, told] of this.#shown)
      if (told.server === server) this.#shown.delete(session);
  }

  /** The summary of a log as the server of the session shows it. */
  shown(summary: SessionSummary): SessionSummary {
    const told = this.#shown.get(summary.id)?.summary;
    return told && told.lastSeq >= summary.lastSeq ? told : summary;
  }
}
