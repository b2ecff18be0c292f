import { PostgresCluster, sampled } from '@belay/testing';
import { Config } from '../config.js';
import { Database } from '../storage/database.js';
import type { TestDatabases } from './logs.js';

type Specs = (databases: TestDatabases) => void;

const everyDatabase: [name: string, on: (specs: Specs) => void][] = [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
];

/** Runs specs on SQLite, and in the long run on every database that the server supports. */
export function onEveryDatabase(what: string, specs: Specs): void {
  describe.each(sampled(1, everyDatabase))(`${what}, in %s`, (_, on) => on(specs));
}

/** The same in every run, for what each database does in its own way; the specs are told its name. */
export function alwaysOnEveryDatabase(
  what: string,
  specs: (databases: TestDatabases, name: string) => void,
): void {
  describe.each(everyDatabase)(`${what}, in %s`, (name, on) =>
    on((databases) => specs(databases, name)),
  );
}

function onSqlite(specs: Specs): void {
  specs({ fresh: () => Promise.resolve({}) });
}

/** With a real cluster for this file. */
export function onPostgres(specs: Specs): void {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    const template = new Database(new Config({ DATABASE_URL: cluster.template }));
    await template.migrated();
    await template.onApplicationShutdown();
  });
  specs({ fresh: async (from) => ({ DATABASE_URL: await cluster.database(from) }) });
  // Hooks run in order, so this one comes after those of the specs.
  afterAll(() => cluster.stop());
}
