import type { TestDatabases } from './logs.js';
import { PostgresCluster } from './postgres-cluster.js';

/**
 * Runs specs on every database that the server supports, with a real PostgreSQL cluster for this
 * file.
 */
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
    // Hooks run in order, so this one comes after those of the specs.
    afterAll(() => cluster.stop());
  });
}
