import { automationDefinition } from '@belay/protocol';
import { z } from 'zod';
import { Database } from '../storage/database.js';
import type { DatabaseConnection } from '../storage/database-schema.js';
import { Documents } from '../storage/documents.js';
import type { TestServer } from './server.js';

const [id, source, run, delivery] = [
  'planted-automation',
  'planted-source',
  'planted-run-1',
  'planted-delivery',
];
const name = 'night-shift';

/** The names of what `plantAutomation` plants. */
export const plantedAutomation = { id, name, source, run };

interface Planted {
  connection: DatabaseConnection;
  /** In every row. */
  text: string;
  at: string;
}

/** Plants one row in each table of automations; the only run began a session. */
export async function plantAutomation(
  server: TestServer,
  text: string,
  session: string,
): Promise<void> {
  const planted = {
    connection: server.app.get(Database).kysely,
    text,
    at: new Date().toISOString(),
  };
  await plantDefinition(planted);
  await plantSource(planted);
  await plantRun(planted, session);
}

/** The secret of the planted source’s webhook. */
export async function plantHookSecret(server: TestServer, secret: string): Promise<void> {
  const schema = z.record(z.string(), z.string());
  const document = server.app.get(Documents).open('forge-hook-secrets', schema, {});
  await document.change(() => ({ [source]: secret }));
}

async function plantDefinition({ connection, text, at }: Planted): Promise<void> {
  const definition = JSON.stringify(
    automationDefinition.parse({
      name,
      description: text,
      on: { schedule: '0 3 * * *' },
      run: { task: text, budgets: { dollars: 1 } },
    }),
  );
  await connection
    .insertInto('automation')
    .values({
      id,
      name,
      definition,
      version: 1,
      owner: 'owner',
      state: 'on',
      created: at,
      updated: at,
      why: text,
      file: null,
      secret: 'a'.repeat(64),
      next_at: at,
      last_at: null,
    })
    .execute();
  await connection
    .insertInto('automation_version')
    .values({ automation: id, version: 1, definition, by: 'owner', at })
    .execute();
}

async function plantSource({ connection, text, at }: Planted): Promise<void> {
  await connection
    .insertInto('forge_source')
    .values({
      id: source,
      host: 'git.internal',
      repository: text,
      repository_id: '1',
      default_branch: 'main',
      self_id: '1',
      self_name: text,
      hook_id: null,
      files_by: null,
      files_commit: null,
      problem: null,
      created: at,
    })
    .execute();
  await connection
    .insertInto('poll_cursor')
    .values({ source, endpoint: text, etag: null, since: null, seen: '[]', next_at: at })
    .execute();
}

async function plantRun({ connection, text, at }: Planted, session: string): Promise<void> {
  const occurrence = JSON.stringify({ event: 'schedule', key: text, at, actor: null });
  await connection
    .insertInto('automation_delivery')
    .values({
      id: delivery,
      source: id,
      transport: 'schedule',
      delivery: text,
      at,
      event: 'schedule',
      event_key: text,
      body_sha256: null,
      occurrence,
      state: 'done',
      why: null,
    })
    .execute();
  await connection
    .insertInto('automation_run')
    .values({
      id: run,
      automation: id,
      version: 1,
      event: 'schedule',
      event_key: text,
      occurrence,
      delivery,
      lane: text,
      subject: text,
      findings: '{}',
      session,
      decisions: '[]',
      state: 'done',
      code: 'published',
      why: text,
      due: at,
      spent: 250_000,
      result: null,
      created: at,
      started: at,
      ended: at,
    })
    .execute();
  await connection
    .insertInto('automation_lane')
    .values({
      automation: id,
      key: text,
      running: run,
      last_start: at,
      stuck: text,
      trees: '[]',
      failures: '[]',
    })
    .execute();
  await connection
    .insertInto('automation_outgoing')
    .values({
      id: 'planted-outgoing',
      run,
      kind: 'comment',
      target: '1',
      n: 1,
      content: text,
      state: 'sent',
      remote_id: '1',
      url: null,
      next_at: null,
      why: text,
      at,
    })
    .execute();
}
