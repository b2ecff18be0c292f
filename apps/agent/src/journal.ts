import { AppError, type NewEvent } from '@belay/protocol';

/** Where the agent writes what happens: kept in order, and sent until the server has stored it. */
export interface Journal {
  append(event: NewEvent): void;
}

/** The journal of rooms that are opened before there is a session: nothing can be written until it `begins`. */
export class LateJournal implements Journal {
  #session: Journal | undefined;

  begin(session: Journal): void {
    this.#session = session;
  }

  append(event: NewEvent): void {
    if (!this.#session) throw new AppError('conflict', 'This agent has no session yet.');
    this.#session.append(event);
  }
}
