import { PostgresCluster } from '@belay/testing';
import { ServerRows } from '../peers/server-rows.js';
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
});
