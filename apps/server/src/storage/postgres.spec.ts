import { PostgresCluster, until } from '@belay/testing';
import { Kysely, sql } from 'kysely';
import { connectionName, postgres } from './postgres.js';
import { serverId } from '../server-id.js';

describe('a connection that PostgreSQL closes', () => {
  let cluster: PostgresCluster;
  let ours: Kysely<object>;
  let other: Kysely<object>;
  beforeAll(async () => void (cluster = await PostgresCluster.start()));
  beforeEach(async () => {
    const url = await cluster.database();
    [ours, other] = [url, url].map((each) => new Kysely<object>({ dialect: postgres(each) })) as [
      Kysely<object>,
      Kysely<object>,
    ];
  });
  afterEach(() => Promise.all([ours.destroy(), other.destroy()]));
  afterAll(() => cluster.stop());

  const process = async (database = ours) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
    return rows[0]?.pid;
  };
  const terminate = (pid?: number) =>
    sql`select pg_terminate_backend(${pid}, 10000)`.execute(other);

  it('is named after its server, so that the next one can end it', async () => {
    const name = sql`select current_setting('application_name') as name`;
    expect((await name.execute(ours)).rows).toEqual([{ name: connectionName(serverId) }]);
  });

  it('while it is idle is replaced', async () => {
    const before = await process();
    await terminate(before);
    // A query that is under way when the connection ends may fail, and none after it.
    const after = await until('another one', () => process().catch(() => undefined));
    expect(after).not.toBe(before);
  });

  it('in a transaction fails that alone', async () => {
    const inTransaction = ours.transaction().execute(async (transaction) => {
      const before = await process(transaction);
      await terminate(before);
      await until('its next query fails', () =>
        process(transaction).then(
          () => false,
          () => true,
        ),
      );
      await process(transaction);
    });
    await expect(inTransaction).rejects.toThrow(/not queryable|terminat/);
    expect(await process()).toBeGreaterThan(0);
  });
});
