import { PostgresCluster } from '@belay/testing';
import { Kysely, sql } from 'kysely';
import { ServerRows } from '../peers/server-rows.js';
import type { DatabaseSchema } from '../storage/database-schema.js';
import { connectionName, postgres } from '../storage/postgres.js';
import { TestLogs } from '../testing/logs.js';

describe('with PostgreSQL', () => {
  let cluster: PostgresCluster;
  let logs: TestLogs;
  beforeAll(async () => void (cluster = await PostgresCluster.start()));
  beforeEach(async () => {
    logs = await new TestLogs({
      fresh: async () => ({ DATABASE_URL: await cluster.database() }),
    }).open();
  });
  afterEach(() => logs.close());
  afterAll(() => cluster.stop());

  /** A server whose last beat was just now. */
  const alive = (id: string, address: string | null) =>
    new ServerRows(logs.database.kysely, { id, address, files: 'folder', key: 'k' }).add();
  /** A session that another server has. */
  async function owned(session: string, owner: string): Promise<void> {
    await logs.session(session);
    await logs.log.handOver(session, owner);
  }
  const claimed = async () => (await logs.log.claimLeft()).map(({ id }) => id);

  it('takes the sessions of a server that was alone and has just been killed, not of one that shares', async () => {
    await alive('alone', null);
    await alive('sharing', 'sharing:1');
    await owned('one', 'alone');
    await owned('two', 'sharing');
    expect(await claimed()).toEqual(['one']);
  });

  it('takes sessions that a server was stopped in the middle of changing, which it then cannot', async () => {
    await owned('one', 'stopped');
    const stopped = new Kysely<DatabaseSchema>({
      dialect: postgres(logs.config.databaseUrl ?? ''),
    });
    const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const stored = stopped.transaction().execute(async (transaction) => {
      const name = connectionName('stopped');
      await sql`select set_config('application_name', ${name}, false)`.execute(transaction);
      await transaction.updateTable('session').set({ agent_n: 7 }).execute();
      begun.resolve();
      await goesOn.promise;
    });
    await begun.promise;
    expect(await claimed()).toEqual(['one']);
    goesOn.resolve();
    await expect(stored).rejects.toThrow();
    await stopped.destroy();
    expect(await logs.store.find('one')).toMatchObject({ agentN: 0 });
  });
});
