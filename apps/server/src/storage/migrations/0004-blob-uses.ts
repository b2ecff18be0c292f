import type { Migration } from 'kysely/migration';
import { blobsIn, useBlobs } from '../blob-uses.js';
import type { DatabaseConnection } from '../database-schema.js';

const pageSize = 1_000;

/** Which sessions and benchmark runs need which blob; filled with what is there already. */
export const blobUses: Migration = {
  async up(db) {
    await db.schema
      .createTable('blob_use')
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('blob', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('blob_use_key', ['owner', 'blob'])
      .execute();
    await db.schema.createIndex('blob_use_blob').on('blob_use').column('blob').execute();
    for (const { id } of await db.selectFrom('session').select('id').execute()) {
      await fillFromEvents(db, id);
    }
    await fillFromTrials(db);
  },
};

async function fillFromEvents(db: DatabaseConnection, session: string): Promise<void> {
  for (let after = 0; ;) {
    const page = await db
      .selectFrom('event')
      .select(['seq', 'args'])
      .where('session', '=', session)
      .where('seq', '>', after)
      .where('action', 'in', ['start', 'message', 'result', 'browser'])
      .orderBy('seq')
      .limit(pageSize)
      .execute();
    for (const { args } of page) await useBlobs(db, session, blobsIn(JSON.parse(args)));
    const last = page.at(-1);
    if (!last) return;
    after = last.seq;
  }
}

async function fillFromTrials(db: DatabaseConnection): Promise<void> {
  const trials = await db.selectFrom('evaluation_trial').select(['evaluation', 'trial']).execute();
  for (const { evaluation, trial } of trials) {
    await useBlobs(db, evaluation, blobsIn(JSON.parse(trial)));
  }
}
