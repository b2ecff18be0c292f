import { Kysely, sql } from 'kysely';
import { PostgresCluster } from '../testing/postgres-cluster.js';
import { postgres } from './postgres.js';

it('a connection that PostgreSQL closes while it is idle is replaced', async () => {
  const cluster = await PostgresCluster.start();
  try {
    const url = await cluster.database();
    const [ours, other] = [url, url].map(
      (each) => new Kysely<object>({ dialect: postgres(each) }),
    ) as [Kysely<object>, Kysely<object>];
    const process = async () => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(ours);
      return rows[0]?.pid;
    };
    const before = await process();
    await sql`select pg_terminate_backend(${before}, 10000)`.execute(other);
    const end = Date.now() + 20_000;
    let after: number | undefined;
    // A query that is under way when the connection ends may fail, and none after it.
    while (after === undefined && Date.now() < end) after = await process().catch(() => undefined);
    expect(after).not.toBe(before);
    expect(after).toBeGreaterThan(0);
    await ours.destroy();
    await other.destroy();
  } finally {
    await cluster.stop();
  }
});
