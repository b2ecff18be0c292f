import type { DatabaseConnection } from '../storage/database-schema.js';
import type { Draft } from './fold.js';
import type { SessionRecord } from './session-record.js';
import type { WrittenEvent } from './written-event.js';

export interface AppendJob {
  session: string;
  /** Returns the events to store and the changed record; throws `AppError` to refuse. */
  prepare: (record: SessionRecord, connection: DatabaseConnection) => Promise<Draft> | Draft;
  /** Whether the job reads events, including those of earlier jobs in the same transaction. */
  reads: boolean;
  done: (draft: Draft) => void;
  failed: (error: unknown) => void;
}

/** The result of one transaction. */
export interface StoredBatch {
  settled: { job: AppendJob; draft: Draft }[];
  changed: Map<string, SessionRecord>;
  added: Map<string, WrittenEvent[]>;
}
