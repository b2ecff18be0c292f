import { sessionSettings } from '@belay/protocol';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { ownerCaller } from '../access/caller.js';
import { firstSummary } from '../logs/session-summary.js';
import { Search } from '../sessions/search.js';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { usedBlobs, useBlobs } from './blob-uses.js';
import { migrations } from './migrations/index.js';
import type { DatabaseConnection } from './database-schema.js';

const versions = Object.keys(migrations('sqlite'));
const [task, page] = ['a'.repeat(64), 'b'.repeat(64)] as const;
const time = '2026-01-01T00:00:00.000Z';
const settings = sessionSettings.parse({ task: 'Fix the parser', model: 'scripted:x' });
const log = [
  { action: 'start', args: { ...settings, images: [task] } },
  { action: 'start', args: { task: 'older, without pictures', model: 'scripted:x' } },
  { action: 'browser', args: { url: 'http://localhost/', title: '', screenshot: page } },
  { action: 'browser', args: { url: 'http://localhost/', title: '', screenshot: null } },
  { action: 'message', args: { text: 'Take the hammer', images: [task] } },
  { action: 'arrival', args: { operation: 'action.draw', ok: true, output: null, seconds: 1 } },
];
/** What had another name then. */
const renamed: Record<string, string> = { arrival: 'background-result' };

const nowOf = (action: string): string => renamed[action] ?? action;

onEveryDatabase('a database of an earlier version', (databases) => {
  let logs: TestLogs;
  afterEach(() => logs.close());

  it.each(versions.slice(0, -1))('migrates from %s', async (version) => {
    logs = await new TestLogs(databases).prepare(async ({ kysely, kind }) => {
      const provider = { getMigrations: () => Promise.resolve(upTo(version, kind)) };
      const { error } = await new Migrator({ db: kysely, provider }).migrateToLatest();
      expect(error).toBeUndefined();
      await fill(kysely, version);
    });
    const events = await logs.log.read('a', { after: 0 });
    expect(events.map(({ action, args }) => ({ action, args }))).toEqual(
      log.map(({ action, args }) => ({ action: nowOf(action), args })),
    );
    expect(await usedBlobs(logs.database.kysely, [task, page])).toEqual(new Set([task, page]));
    await logs.session('c', { task: 'Paint the hammer' });
    const found = await new Search(logs.database, logs.store).find('hammer', ownerCaller);
    expect(found.map(({ session, seq }) => `${session} ${seq}`)).toEqual(['c 1', 'b 5', 'a 5']);
    expect((await logs.log.summary('b')).task).toBe('Fix the parser');
    await logs.log.remove('b');
    expect(await logs.store.all()).toHaveLength(2);
  });
});

const upTo = (version: string, kind: 'sqlite' | 'postgres') =>
  Object.fromEntries(Object.entries(migrations(kind)).filter(([name]) => name <= version));

/** As that version wrote it. */
async function fill(kysely: DatabaseConnection, version: string): Promise<void> {
  for (const [index, id] of ['a', 'b'].entries()) {
    const summary = JSON.stringify({ ...firstSummary(id, settings, time), lastSeq: log.length });
    await sql`insert into session
      (id, created, epoch, last_seq, agent_n, indexed_seq, settings, summary)
      values (${id}, ${time}, 1, ${log.length}, 0, 0, ${JSON.stringify(settings)}, ${summary})`.execute(
      kysely,
    );
    if (version >= '0005') {
      await kysely
        .updateTable('session')
        .set({ number: index + 1 })
        .where('id', '=', id)
        .execute();
    }
    if (version >= '0004') await useBlobs(kysely, id, [task, page]);
    for (const [at, { action, args }] of log.entries()) {
      await sql`insert into event (session, seq, time, source, action, args, message)
        values (${id}, ${at + 1}, ${time}, 'user', ${version >= '0011' ? nowOf(action) : action},
          ${JSON.stringify(args)}, '')`.execute(kysely);
    }
  }
}
