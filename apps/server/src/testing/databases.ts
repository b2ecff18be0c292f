import { sampled } from '@belay/testing';
import type { TestDatabases } from './logs.js';
import { PostgresCluster } from './postgres-cluster.js';

type Specs = (databases: TestDatabases) => void;

/** Runs specs on SQLite, and in the long run on every database that the server supports. */
export function onEveryDatabase(what: string, specs: Specs): void {
  for (const inOne of sampled(1, [inSqlite, inPostgres])) inOne(what, specs);
}

/** The same in every run, for what each database does in its own way. */
export function alwaysOnEveryDatabase(what: string, specs: Specs): void {
  for (const inOne of [inSqlite, inPostgres]) inOne(what, specs);
}

function inSqlite(what: string, specs: Specs): void {
  describe(`${what}, in SQLite`, () => {
    specs({ fresh: () => Promise.resolve({}) });
  });
}

/** With a real cluster for this file. */
function inPostgres(what: string, specs: Specs): void {
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
