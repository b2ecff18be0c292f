import type { Migration } from 'kysely/migration';

type Schema = Parameters<Migration['up']>[0]['schema'];

/** Automations: definitions, what was learned of, runs with their lanes, and what they send to git hosts. */
export const automations: Migration = {
  async up({ schema }) {
    await definitions(schema);
    await sources(schema);
    await runs(schema);
    await lanesAndOutgoing(schema);
  },
};

async function definitions(schema: Schema): Promise<void> {
  await schema
    .createTable('automation')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('definition', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('why', 'text')
    .addColumn('file', 'text')
    .addColumn('secret', 'text')
    .addColumn('next_at', 'text')
    .addColumn('last_at', 'text')
    .addColumn('created', 'text', (column) => column.notNull())
    .addColumn('updated', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('automation_version')
    .addColumn('automation', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('definition', 'text', (column) => column.notNull())
    .addColumn('by', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('automation_version_key', ['automation', 'version'])
    .execute();
}

async function sources(schema: Schema): Promise<void> {
  await schema
    .createTable('forge_source')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('repository', 'text', (column) => column.notNull())
    .addColumn('repository_id', 'text', (column) => column.notNull())
    .addColumn('default_branch', 'text', (column) => column.notNull())
    .addColumn('self_id', 'text', (column) => column.notNull())
    .addColumn('self_name', 'text', (column) => column.notNull())
    .addColumn('hook_id', 'text')
    .addColumn('files_by', 'text')
    .addColumn('files_commit', 'text')
    .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('problem', 'text')
    .addColumn('created', 'text', (column) => column.notNull())
    .addUniqueConstraint('forge_source_repository', ['host', 'repository'])
    .execute();
  await schema
    .createTable('poll_cursor')
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('endpoint', 'text', (column) => column.notNull())
    .addColumn('etag', 'text')
    .addColumn('since', 'text')
    .addColumn('seen', 'text', (column) => column.notNull())
    .addColumn('next_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('poll_cursor_key', ['source', 'endpoint'])
    .execute();
  await schema
    .createTable('automation_delivery')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('transport', 'text', (column) => column.notNull())
    .addColumn('delivery', 'text', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('event_key', 'text')
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('body_sha256', 'text')
    .addColumn('occurrence', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('why', 'text')
    .addUniqueConstraint('automation_delivery_once', ['source', 'transport', 'delivery'])
    .execute();
  await schema
    .createIndex('automation_delivery_state')
    .on('automation_delivery')
    .columns(['state', 'at'])
    .execute();
  await schema
    .createIndex('automation_delivery_event')
    .on('automation_delivery')
    .columns(['source', 'event_key'])
    .execute();
}

async function runs(schema: Schema): Promise<void> {
  await schema
    .createTable('automation_run')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('automation', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('event_key', 'text', (column) => column.notNull())
    .addColumn('delivery', 'text')
    .addColumn('occurrence', 'text', (column) => column.notNull())
    .addColumn('lane', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('findings', 'text', (column) => column.notNull())
    .addColumn('decisions', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('code', 'text')
    .addColumn('why', 'text')
    .addColumn('session', 'text', (column) => column.unique())
    .addColumn('due', 'text', (column) => column.notNull())
    .addColumn('reserved', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('spent', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('result', 'text')
    .addColumn('created', 'text', (column) => column.notNull())
    .addColumn('started', 'text')
    .addColumn('ended', 'text')
    .addUniqueConstraint('automation_run_once', ['automation', 'event_key'])
    .execute();
  await schema
    .createIndex('automation_run_state')
    .on('automation_run')
    .columns(['state', 'due'])
    .execute();
  await schema
    .createIndex('automation_run_lane')
    .on('automation_run')
    .columns(['automation', 'lane', 'created'])
    .execute();
}

async function lanesAndOutgoing(schema: Schema): Promise<void> {
  await schema
    .createTable('automation_lane')
    .addColumn('automation', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('running', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('last_start', 'text')
    .addColumn('stuck', 'text')
    .addColumn('trees', 'text', (column) => column.notNull())
    .addColumn('failures', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('automation_lane_key', ['automation', 'key'])
    .execute();
  await schema
    .createTable('automation_outgoing')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('n', 'integer', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('remote_id', 'text')
    .addColumn('url', 'text')
    .addColumn('tries', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('next_at', 'text')
    .addColumn('why', 'text')
    .addColumn('at', 'text', (column) => column.notNull())
    .addUniqueConstraint('automation_outgoing_once', ['run', 'kind', 'target', 'n'])
    .execute();
}
