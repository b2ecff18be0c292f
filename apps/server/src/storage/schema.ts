import type { Kysely, Transaction } from 'kysely';

/** The tables, as Kysely knows them. JSON is kept as text: both databases give it back to the byte. */
export interface Schema {
  session: SessionTable;
  event: EventTable;
  rule: RuleTable;
  setting: SettingTable;
  event_text: EventTextTable;
  blob_use: BlobUseTable;
  evaluation: EvaluationTable;
  evaluation_trial: EvaluationTrialTable;
}

/** The database, or one transaction on it. */
export type Connection = Kysely<Schema> | Transaction<Schema>;

export interface SessionTable {
  id: string;
  created: string;
  /** Counts the sessions. */
  number: number;
  /** Counts the sandboxes it has had: the fence. */
  epoch: number;
  last_seq: number;
  /** The `n` of the last event stored from the agent of this epoch. */
  agent_n: number;
  /** Up to where the full-text index has come. */
  indexed_seq: number;
  settings: string;
  summary: string;
}

export interface EventTable {
  session: string;
  seq: number;
  time: string;
  source: string;
  action: string;
  args: string;
  message: string;
  call: string | null;
  epoch: number | null;
  n: number | null;
}

export interface RuleTable {
  id: string;
  created: string;
  scope: string;
  session: string | null;
  /** The workspace of `session` when the rule was made. */
  workspace: string | null;
  operation: string;
  pattern: string;
  verdict: string;
  expires: string | null;
  uses: number;
}

/** What a person has set for the whole server, by name. */
export interface SettingTable {
  name: string;
  value: string;
}

/** In PostgreSQL a table with a tsvector index; in SQLite FTS5 with `text` alone, see `event-text.ts`. */
export interface EventTextTable {
  session: string;
  seq: number;
  text: string;
}

/** `owner` is a session or a benchmark run. */
export interface BlobUseTable {
  owner: string;
  blob: string;
}

export interface EvaluationTable {
  id: string;
  /** Counts the processes that reported it: the fence. */
  epoch: number;
  tasks: string;
  summary: string;
}

/** The newest state of each trial, with the number of the report that brought it. */
export interface EvaluationTrialTable {
  evaluation: string;
  task: string;
  attempt: number;
  seq: number;
  /** Null until there is a verdict. */
  outcome: string | null;
  tokens: number;
  dollars: number;
  trial: string;
}
