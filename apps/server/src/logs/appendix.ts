import type { NewEvent, SessionSettings, SessionSummary } from '@belay/protocol';
import type { DatabaseConnection } from '../storage/database-schema.js';

/** Events to append, or a function that decides on them atomically when their turn has come. */
export type Appendix =
  | NewEvent[]
  | ((
      summary: SessionSummary,
      settings: SessionSettings,
      /** Has everything that was appended before. */
      connection: DatabaseConnection,
    ) => NewEvent[] | Promise<NewEvent[]>);
