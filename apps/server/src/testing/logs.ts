import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newEvent, sessionSettings, type SessionSettingsInput } from '@belay/protocol';
import { Config } from '../config.js';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { Database } from '../storage/database.js';
import { FolderObjects } from '../storage/folder-objects.js';
import type { ObjectStore } from '../storage/object-store.js';
import { Documents } from '../storage/documents.js';
import { putTables } from './put-tables.js';

export interface TestDatabases {
  /** The settings for a new database: with nothing in it, or with empty tables already where there is a template. */
  fresh(from?: 'template' | 'nothing'): Promise<Record<string, string>>;
}

/** A real database in a temporary folder, with its log, for tests. */
export class TestLogs {
  config!: Config;
  database!: Database;
  objects!: ObjectStore;
  store!: SessionsStore;
  log!: EventLog;

  constructor(private readonly databases?: TestDatabases) {}

  /** Runs `work` on the database before its tables are created, then opens it. */
  async prepare(work: (database: Database) => Promise<void>): Promise<this> {
    this.#place ??= (await this.databases?.fresh('nothing')) ?? {};
    const database = new Database(await this.#configure());
    await work(database);
    await database.onApplicationShutdown();
    return this.open();
  }

  async open(env: Record<string, string> = {}): Promise<this> {
    this.config = await this.#configure(env);
    await putTables(this.config);
    this.database = new Database(this.config);
    this.objects = new FolderObjects(this.config.data);
    await this.database.migrated();
    this.store = new SessionsStore(this.database);
    this.log = new EventLog(this.store, this.config);
    return this;
  }

  async #configure(env: Record<string, string> = {}): Promise<Config> {
    this.#folder ??= await mkdtemp(join(tmpdir(), 'belay-test-'));
    this.#place ??= (await this.databases?.fresh()) ?? {};
    return new Config({ BELAY_DATA: this.#folder, BELAY_PORT: '0', ...this.#place, ...env });
  }

  /** The documents of the database, as a server reads them at its start. */
  documents(): Promise<Documents> {
    return Documents.load(this.config, this.database);
  }

  /** Simulates a restart of the process. */
  async reopen(env: Record<string, string> = {}): Promise<this> {
    await this.log.drained();
    await this.database.onApplicationShutdown();
    return this.open(env);
  }

  async session(id: string, more: Partial<SessionSettingsInput> = {}): Promise<void> {
    const settings = sessionSettings.parse({ task: 'Fix', model: 'scripted:a.yaml', ...more });
    const message = settings.task;
    await this.log.create(id, settings, {
      events: [
        newEvent('user', 'start', { args: settings, message }),
        newEvent('server', 'state', { args: { state: 'running', reason: null }, message }),
      ],
    });
  }

  async close(): Promise<void> {
    await this.log.drained();
    await this.database.onApplicationShutdown();
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
  }

  #folder: string | undefined;
  #place: Record<string, string> | undefined;
}
