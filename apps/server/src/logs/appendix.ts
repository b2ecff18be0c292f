import type { NewEvent, SessionSettings, SessionSummary } from '@belay/protocol';
import type { DatabaseConnection } from '../storage/database-schema.js';

/** Events to append, or a function that chooses them atomically when it is their turn. */
export type Appendix =
  | NewEvent[]
  | ((
      summary: SessionSummary,
      settings: SessionSettings,
      /** The transaction, which sees everything that was appended before. */
      connection: DatabaseConnection,
    ) => NewEvent[] | Promise<NewEvent[]>);
