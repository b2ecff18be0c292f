import type { DatabaseSchema } from '../storage/database-schema.js';
import type { Kind } from './foreign-things.js';

/**
 * Tables about the servers themselves, which no route reads, and what is kept under secrets, which is attacked in
 * `expiring-values.spec.ts` and `idempotency.spec.ts`.
 */
export const ownTables = ['server', 'lease', 'expiring_value'] as const;

/** The kind that is planted in each table; a table without one has no line here, and the compiler says so. */
export const tables: Record<Exclude<keyof DatabaseSchema, (typeof ownTables)[number]>, Kind> = {
  session: 'session',
  event: 'message',
  event_text: 'message',
  rule: 'rule',
  setting: 'settings',
  document: 'mcp',
  blob_use: 'picture',
  terminal_piece: 'session',
  evaluation: 'evaluation',
  evaluation_trial: 'trial',
  access_token: 'token',
  session_owner: 'session',
  account: 'user',
  audit: 'token',
  gpt_conversation: 'conversation',
  comparison: 'comparison',
  task_template: 'template',
  log_head: 'session',
  evidence: 'session',
  automation: 'automation',
  automation_version: 'automation',
  forge_source: 'automation',
  poll_cursor: 'automation',
  automation_delivery: 'automation',
  automation_run: 'automation',
  automation_lane: 'automation',
  automation_outgoing: 'automation',
};
