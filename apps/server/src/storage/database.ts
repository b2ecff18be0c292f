import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { Config } from '../config.js';
import { migrations } from './migrations/index.js';
import { postgres } from './postgres.js';
import type { DatabaseSchema } from './database-schema.js';
import { sqlite } from './sqlite.js';

/** SQLite in the data folder, or PostgreSQL if DATABASE_URL is set; migrated at the start. */
@Injectable()
export class Database implements OnModuleInit, OnApplicationShutdown {
  readonly kind: 'sqlite' | 'postgres';
  readonly kysely: Kysely<DatabaseSchema>;
  #ready: Promise<void> | undefined;

  constructor(config: Config) {
    this.kind = config.databaseUrl ? 'postgres' : 'sqlite';
    if (!config.databaseUrl) mkdirSync(config.data, { recursive: true, mode: 0o700 });
    this.kysely = new Kysely({
      dialect: config.databaseUrl
        ? postgres(config.databaseUrl)
        : sqlite(join(config.data, 'belay.db')),
    });
  }

  async onModuleInit(): Promise<void> {
    await this.migrated();
  }

  /** Resolves when the tables are migrated; code that reads at the server’s start waits for it. */
  migrated(): Promise<void> {
    return (this.#ready ??= this.#migrate());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.kysely.destroy();
  }

  async #migrate(): Promise<void> {
    const migrator = new Migrator({
      db: this.kysely,
      provider: { getMigrations: () => Promise.resolve(migrations(this.kind)) },
    });
    const { error } = await migrator.migrateToLatest();
    if (error) throw error;
  }
}

export function notStored(error: unknown): never {
  throw storageError(error);
}

/** Whether a row was not stored because its key, or another value that is unique, is there already. */
export function isTwice(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return (
    code === '23505' ||
    code === 'SQLITE_CONSTRAINT_PRIMARYKEY' ||
    code === 'SQLITE_CONSTRAINT_UNIQUE'
  );
}

/** Converts a database’s write error to an `AppError`. */
export function storageError(error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === '53100') {
    return new AppError('disk_full', 'The disk is full: free some space in the data folder.');
  }
  if (typeof code === 'string' && code.startsWith('SQLITE_IOERR')) {
    return new AppError('disk_full', 'The data folder cannot be written: check its disk.');
  }
  return error;
}
