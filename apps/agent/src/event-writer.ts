import { AppError, type NewEvent } from '@belay/protocol';

/** Writes the agent’s events: they stay in order, and are sent until the server has stored them. */
export interface EventWriter {
  append(event: NewEvent): void;
}

/** A session’s event writer with `flush`, for actions of the server that require the call to be in its log. */
export interface SessionWriter extends EventWriter {
  /** Resolves when everything appended so far is stored; rejects when it never will be. */
  flush(): Promise<void>;
}

/** The writer of services that are opened before there is a session; nothing can be written until `begin`. */
export class DeferredEventWriter implements SessionWriter {
  #session: SessionWriter | undefined;

  begin(session: SessionWriter): void {
    this.#session = session;
  }

  append(event: NewEvent): void {
    this.#begun().append(event);
  }

  async flush(): Promise<void> {
    await this.#begun().flush();
  }

  #begun(): SessionWriter {
    if (this.#session) return this.#session;
    throw new AppError('conflict', 'This agent has no session yet.');
  }
}
