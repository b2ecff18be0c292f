import type { TestDatabases } from './logs.js';
import { PostgresCluster } from './postgres-cluster.js';

/** Runs specs on every database that the server knows; PostgreSQL is a real one, for this file alone. */
export function onEveryDatabase(what: string, specs: (databases: TestDatabases) => void): void {
  describe(`${what}, in SQLite`, () => {
    specs({ fresh: () => Promise.resolve({}) });
  });
  describe(`${what}, in PostgreSQL`, () => {
    let cluster: PostgresCluster;
    beforeAll(async () => {
      cluster = await PostgresCluster.start();
    }, 60_000);
    specs({ fresh: async () => ({ DATABASE_URL: await cluster.database() }) });
    // After what the specs end themselves: hooks run in their order.
    afterAll(() => cluster.stop());
  });
}
