import type { SessionSummary } from '@belay/protocol';

/**
 * Sessions whose agent cannot be reached at the moment. Nothing of it is stored, because the agent may have gone on and
 * reports later what it did; it is shown as the session’s state.
 */
export class Absences {
  readonly #absent = new Set<string>();

  /** `changed` is called when an absence begins and when it ends. */
  constructor(private readonly changed: (session: string) => void) {}

  begin(session: string): void {
    if (this.#absent.has(session)) return;
    this.#absent.add(session);
    this.changed(session);
  }

  end(session: string): void {
    if (this.#absent.delete(session)) this.changed(session);
  }

  /** The summary with the absence as its state. */
  shown(summary: SessionSummary): SessionSummary {
    if (!this.#absent.has(summary.id) || summary.state !== 'running') return summary;
    const reason = 'Its sandbox cannot be reached. The session continues once it can.';
    return { ...summary, state: 'waiting', reason };
  }
}
