import type { NewEvent } from '@belay/protocol';

/** Where the agent writes what happens: kept in order, and sent until the server has stored it. */
export interface Journal {
  append(event: NewEvent): void;
}
