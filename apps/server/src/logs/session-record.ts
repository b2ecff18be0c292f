import {
  sessionSettings,
  sessionSummary,
  type SessionSettings,
  type SessionSummary,
} from '@belay/protocol';
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

/** What an older version stored gets the defaults of what has come since. */
export function recordOf(row: Selectable<SessionTable>): SessionRecord {
  return {
    id: row.id,
    created: row.created,
    epoch: row.epoch,
    lastSeq: row.last_seq,
    agentN: row.agent_n,
    settings: sessionSettings.parse(JSON.parse(row.settings)),
    summary: sessionSummary.parse(JSON.parse(row.summary)),
  };
}

export const columnsOf = (record: SessionRecord) => ({
  epoch: record.epoch,
  last_seq: record.lastSeq,
  agent_n: record.agentN,
  settings: JSON.stringify(record.settings),
  summary: JSON.stringify(record.summary),
});
