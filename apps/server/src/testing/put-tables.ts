import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../config.js';
import { Database } from '../storage/database.js';

const name = 'belay.db';
let made: Promise<Buffer> | undefined;

/**
 * Puts a SQLite database with empty tables where a server with this configuration opens its own, unless there is one.
 * Making the tables anew takes longer than many tests; migrations.spec.ts tests it.
 */
export async function putTables({ data, databaseUrl }: Config): Promise<void> {
  if (databaseUrl || existsSync(join(data, name))) return;
  await mkdir(data, { recursive: true, mode: 0o700 });
  await writeFile(join(data, name), await (made ??= make()), { mode: 0o600 });
}

async function make(): Promise<Buffer> {
  const data = await mkdtemp(join(tmpdir(), 'belay-tables-'));
  try {
    const database = new Database(new Config({ BELAY_DATA: data }));
    await database.migrated();
    await database.onApplicationShutdown();
    return await readFile(join(data, name));
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}
