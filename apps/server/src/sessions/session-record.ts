import type { SessionSettings, SessionSummary } from '@belay/protocol';
import type { Selectable } from 'kysely';
import type { SessionTable } from '../storage/schema.js';

/** A session's row, read. Records are values: a change makes a new one. */
export interface SessionRecord {
  readonly id: string;
  readonly created: string;
  readonly epoch: number;
  readonly lastSeq: number;
  readonly agentN: number;
  readonly settings: SessionSettings;
  readonly summary: SessionSummary;
}

export function recordOf(row: Selectable<SessionTable>): SessionRecord {
  return {
    id: row.id,
    created: row.created,
    epoch: row.epoch,
    lastSeq: row.last_seq,
    agentN: row.agent_n,
    settings: JSON.parse(row.settings) as SessionSettings,
    summary: JSON.parse(row.summary) as SessionSummary,
  };
}

export const columnsOf = (record: SessionRecord) => ({
  epoch: record.epoch,
  last_seq: record.lastSeq,
  agent_n: record.agentN,
  settings: JSON.stringify(record.settings),
  summary: JSON.stringify(record.summary),
});
