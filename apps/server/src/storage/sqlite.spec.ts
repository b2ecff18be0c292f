import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { storageError } from './database.js';
import { sqlite } from './sqlite.js';

interface Tables {
  notes: { text: string };
}

describe('SQLite', () => {
  let folder: string;
  let database: Kysely<Tables>;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-sqlite-'));
    database = new Kysely<Tables>({ dialect: sqlite(join(folder, 'belay.db')) });
    await database.schema.createTable('notes').addColumn('text', 'text').execute();
  });
  afterEach(async () => {
    await database.destroy();
    rmSync(folder, { recursive: true });
  });

  it('makes files that only their owner can read, whatever the folder', async () => {
    chmodSync(folder, 0o755);
    await database.insertInto('notes').values({ text: 'private' }).execute();
    const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
  });

  it('reports a full disk, rolls the transaction back, and works again once there is space', async () => {
    const write = (text: string) =>
      database.transaction().execute(async (transaction) => {
        await transaction.insertInto('notes').values({ text: 'first' }).execute();
        await transaction.insertInto('notes').values({ text }).execute();
      });
    // The same failure as a disk without space, from SQLite itself.
    await sql`pragma max_page_count = 20`.execute(database);
    const failure = await write('x'.repeat(200_000)).catch((error: unknown) => error);
    expect(storageError(failure)).toMatchObject({ code: 'disk_full' });
    expect(await database.selectFrom('notes').selectAll().execute()).toEqual([]);
    await sql`pragma max_page_count = 100000`.execute(database);
    await write('second');
    expect(await database.selectFrom('notes').selectAll().execute()).toHaveLength(2);
  });
});
