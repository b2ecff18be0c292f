import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

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
    for (const { id } of await (db as Old).selectFrom('session').select('id').execute()) {
      await fillFromEvents(db as Old, id);
    }
    await fillFromTrials(db as Old);
  },
};

type Old = Kysely<{
  session: { id: string };
  event: { session: string; seq: number; action: string; args: string };
  evaluation_trial: { evaluation: string; trial: string };
  blob_use: { owner: string; blob: string };
}>;

async function fillFromEvents(db: Old, session: string): Promise<void> {
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
    for (const { args } of page) {
      const { images = [], screenshot } = JSON.parse(args) as {
        images?: string[];
        screenshot?: string | null;
      };
      await use(db, session, [...images, screenshot ?? '']);
    }
    const last = page.at(-1);
    if (!last) return;
    after = last.seq;
  }
}

async function fillFromTrials(db: Old): Promise<void> {
  const trials = await db.selectFrom('evaluation_trial').select(['evaluation', 'trial']).execute();
  for (const { evaluation, trial } of trials) {
    const { answer, log } = JSON.parse(trial) as { answer: string | null; log: string | null };
    await use(db, evaluation, [answer ?? '', log ?? '']);
  }
}

async function use(db: Old, owner: string, blobs: string[]): Promise<void> {
  const rows = blobs.filter(Boolean).map((blob) => ({ owner, blob }));
  if (rows.length === 0) return;
  await db
    .insertInto('blob_use')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
