import type { ApiName, Scope } from '@belay/protocol';
import type { Generated, Kysely, Transaction } from 'kysely';
import type {
  AutomationDeliveryTable,
  AutomationLaneTable,
  AutomationOutgoingTable,
  AutomationRunTable,
  AutomationTable,
  AutomationVersionTable,
  ForgeSourceTable,
  PollCursorTable,
} from './automation-tables.js';

/** The tables, as Kysely types. JSON is stored as text: both databases return it unchanged. */
export interface DatabaseSchema {
  session: SessionTable;
  event: EventTable;
  rule: RuleTable;
  setting: SettingTable;
  document: DocumentTable;
  expiring_value: ExpiringValueTable;
  event_text: EventTextTable;
  blob_use: BlobUseTable;
  terminal_piece: TerminalPieceTable;
  evaluation: EvaluationTable;
  evaluation_trial: EvaluationTrialTable;
  access_token: AccessTokenTable;
  session_owner: SessionOwnerTable;
  account: AccountTable;
  audit: AuditTable;
  gpt_conversation: GptConversationTable;
  comparison: ComparisonTable;
  task_template: TaskTemplateTable;
  server: ServerTable;
  lease: LeaseTable;
  log_head: LogHeadTable;
  evidence: EvidenceTable;
  automation: AutomationTable;
  automation_version: AutomationVersionTable;
  forge_source: ForgeSourceTable;
  poll_cursor: PollCursorTable;
  automation_delivery: AutomationDeliveryTable;
  automation_run: AutomationRunTable;
  automation_lane: AutomationLaneTable;
  automation_outgoing: AutomationOutgoingTable;
}

/** The database, or one transaction on it. */
export type DatabaseConnection = Kysely<DatabaseSchema> | Transaction<DatabaseSchema>;

export interface SessionTable {
  id: string;
  created: string;
  /** A serial number. */
  number: number;
  /** The number of sandboxes so far, used for fencing. */
  epoch: number;
  /** The server that works on it; null while there is nothing to do, until a server writes the log. */
  owner: string | null;
  /** The number of owners so far, used for fencing. */
  term: number;
  /** The last event when the present term began. */
  term_seq: number;
  last_seq: number;
  /** The `n` of the last event stored from the agent of this epoch. */
  agent_n: number;
  /** The last event in the full-text index. */
  indexed_seq: number;
  /** Set once, when the session is created. */
  comparison: string | null;
  /** The digest of the last event; null while a log of an earlier version is not chained yet. */
  head: string | null;
  /** The first event that was chained when it was stored. */
  chained_from: number | null;
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
  /** Of this event and all before it; null like the session’s `head`. */
  digest: string | null;
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

/** Settings for the whole server, by name. */
export interface SettingTable {
  name: string;
  value: string;
}

/** `version` counts the changes of the value, which is encrypted JSON: see `documents.ts`. */
export interface DocumentTable {
  name: string;
  version: number;
  value: string;
}

/**
 * What is kept until `expires`, in milliseconds, under a secret of which the database has only the hash. `value` is
 * encrypted, and `size` counts against the limit of the owner: see `expiring-values.ts`.
 */
export interface ExpiringValueTable {
  /** A serial number: the lowest is the oldest. */
  id: Generated<number>;
  kind:
    | 'request'
    | 'login-code'
    | 'oauth-code'
    | 'mcp-login'
    | 'gpt-run'
    | 'upload'
    | 'preview'
    | 'mcp-session';
  hash: string;
  owner: string;
  expires: number;
  size: number;
  value: string;
}

/** In PostgreSQL a table with a tsvector index; in SQLite FTS5 with `text` alone, see `event-text.ts`. */
export interface EventTextTable {
  session: string;
  seq: number;
  text: string;
}

/**
 * Output of a terminal from the offset `start` to `start + length`, without gaps or overlaps. Its first `kept` bytes are
 * `bytes`, or the object of the key `object`; the rest is not kept and is read as zeros.
 */
export interface TerminalPieceTable {
  session: string;
  terminal: string;
  start: number;
  length: number;
  kept: number;
  bytes: Buffer | null;
  object: string | null;
}

/** `owner` is a session or a benchmark run. */
export interface BlobUseTable {
  owner: string;
  blob: string;
}

export interface EvaluationTable {
  id: string;
  /** The number of processes that have reported it, used for fencing. */
  epoch: number;
  tasks: string;
  summary: string;
}

/** The newest state of each trial, with the number of its report. */
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

/** `hash` is of the whole token; `sessions` is JSON. */
export interface AccessTokenTable {
  id: string;
  label: string;
  hash: string;
  scope: Scope;
  sessions: string;
  created: string;
  expires: string | null;
  last_used: string | null;
  /** JSON of the sandbox for sessions that it begins; null for the usual one. */
  sandbox: string | null;
  /** For an application with OAuth: its id, the hashes of its refresh token, and the time at which that expires. */
  client: string | null;
  refresh_family: string | null;
  refresh_hash: string | null;
  refresh_expires: string | null;
  /** For a viewer link, the session that it shows; and the caller that made the link or token, with whom it ends. */
  link_session: string | null;
  link_maker: string | null;
}

/** The session that a conversation of ChatGPT uses. */
export interface GptConversationTable {
  caller: string;
  conversation: string;
  session: string;
  bound: string;
}

/** `failed` and `kept` are JSON; sessions refer to this table. */
export interface ComparisonTable {
  id: string;
  created: string;
  task: string;
  check_command: string | null;
  failed: string;
  kept: string | null;
}

/** `content` is JSON. */
export interface TaskTemplateTable {
  caller: string;
  name: string;
  content: string;
}

/** A session’s owner, for callers that see only their own sessions. */
export interface SessionOwnerTable {
  session: string;
  caller: string;
}

/** `password` is a PHC string; `subject` comes from the identity provider. A user has one of them. */
export interface AccountTable {
  id: string;
  name: string;
  password: string | null;
  subject: string | null;
  scope: Scope;
  created: string;
  last_login: string | null;
}

export interface AuditTable {
  id: Generated<number>;
  time: string;
  caller: string | null;
  label: string | null;
  api: ApiName;
  action: string;
  session: string | null;
  subject: string;
  address: string | null;
  outcome: string;
}

/** A process that shares this database, for as long as it runs. */
export interface ServerTable {
  id: string;
  /** HOST:PORT for other servers; null for one that works alone. */
  address: string | null;
  /** Names its bucket or data folder. */
  files: string;
  version: string;
  /** With this, other servers pass connections on to it. */
  key: string;
  /** When it was last alive, in milliseconds of the database’s clock. */
  beat: number;
  /** See `ServerLoad`. */
  instance: string | null;
  sandboxes: number;
  capacity: number;
}

/** One row, `sessions`: the server that works on them. `term` counts the servers so far. */
export interface LeaseTable {
  name: string;
  server: string | null;
  term: number;
}

/** The last event of a log at some time, with its digest. Rows outlive their session. */
export interface LogHeadTable {
  id: Generated<number>;
  session: string;
  seq: number;
  head: string;
  time: string;
  why: 'publish' | 'end';
}

/** `id` is the digest of the statement’s record; `envelope` is JSON with the signed bytes. Rows outlive their session. */
export interface EvidenceTable {
  id: string;
  session: string;
  commit_id: string;
  envelope: string;
  /** The envelope with what was run again, for changes with reruns. */
  test_result: string | null;
  created: string;
}
