import type { Generated } from 'kysely';

/** JSON is stored as text, times as ISO 8601 in UTC, money in millionths of a dollar. */
export interface AutomationTable {
  id: string;
  name: string;
  version: number;
  definition: string;
  /** The id of the caller whose rights its runs have. */
  owner: string;
  state: 'on' | 'paused' | 'broken';
  why: string | null;
  /** The file of a repository that it comes from: `{host, repository, path, commit}`. */
  file: string | null;
  /** The hash of the secret of its URL. */
  secret: string | null;
  /** Of a schedule: its next time, and the last that was run or missed. */
  next_at: string | null;
  last_at: string | null;
  created: string;
  updated: string;
}

export interface AutomationVersionTable {
  automation: string;
  version: number;
  definition: string;
  by: string;
  at: string;
}

/** A repository of a git host whose events begin runs. */
export interface ForgeSourceTable {
  id: string;
  host: string;
  repository: string;
  /** The host’s own id, which survives renaming. */
  repository_id: string;
  default_branch: string;
  /** The user of the server’s token. */
  self_id: string;
  self_name: string;
  /** The host’s id of the webhook that the server made. */
  hook_id: string | null;
  /** The admin who trusted the repository’s own definitions, and the commit that they were last read from. */
  files_by: string | null;
  files_commit: string | null;
  failures: Generated<number>;
  problem: string | null;
  created: string;
}

/** Where polling of one list of a source goes on. */
export interface PollCursorTable {
  source: string;
  endpoint: string;
  etag: string | null;
  since: string | null;
  /** The ids at exactly `since`. */
  seen: string;
  next_at: string;
}

/** Something that was learned of, once for each delivery id. `source` is a source’s id or an automation’s. */
export interface AutomationDeliveryTable {
  id: string;
  source: string;
  transport: 'webhook' | 'poll' | 'url' | 'schedule' | 'session' | 'hand';
  delivery: string;
  event: string;
  event_key: string | null;
  at: string;
  body_sha256: string | null;
  occurrence: string | null;
  state: 'received' | 'done' | 'duplicate' | 'ignored' | 'refused';
  why: string | null;
}

/** One run, or the decision against it: at most one for each automation and event key. */
export interface AutomationRunTable {
  id: string;
  automation: string;
  version: number;
  event: string;
  event_key: string;
  delivery: string | null;
  occurrence: string;
  lane: string;
  subject: string;
  findings: string;
  decisions: string;
  state: string;
  code: string | null;
  why: string | null;
  /** Set before the session is created, so that a killed server finds it again. */
  session: string | null;
  due: string;
  reserved: Generated<number>;
  spent: Generated<number>;
  /** `{tree, changed, check, verdict, commit, pullRequest}` */
  result: string | null;
  created: string;
  started: string | null;
  ended: string | null;
}

/** What holds for all runs with one lane key. */
export interface AutomationLaneTable {
  automation: string;
  key: string;
  /** The run that holds it. */
  running: string | null;
  attempts: Generated<number>;
  last_start: string | null;
  /** Why the next run needs a user. */
  stuck: string | null;
  /** The last trees and the signatures of the last failures. */
  trees: string;
  failures: string;
}

/** Something for a git host: planned before it is sent. */
export interface AutomationOutgoingTable {
  id: string;
  run: string;
  kind: string;
  target: string;
  n: number;
  content: string;
  state: 'planned' | 'sent' | 'refused' | 'given-up';
  remote_id: string | null;
  url: string | null;
  tries: Generated<number>;
  next_at: string | null;
  why: string | null;
  at: string;
}
