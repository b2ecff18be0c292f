import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fact, sessionSettings, type SessionSettingsInput } from '@belay/protocol';
import { Config } from '../config.js';
import { EventLog } from '../logs/event-log.js';
import { SessionStore } from '../logs/session.store.js';
import { Database } from '../storage/database.js';

export interface TestDatabases {
  /** The settings of an empty database. */
  fresh(): Promise<Record<string, string>>;
}

/** A real database in a temporary folder, with its log, for tests. */
export class TestLogs {
  config!: Config;
  database!: Database;
  store!: SessionStore;
  log!: EventLog;

  constructor(private readonly databases?: TestDatabases) {}

  /** Opens it after `work` on the database as it is, without its tables. */
  async prepare(work: (database: Database) => Promise<void>): Promise<this> {
    const database = new Database(await this.configure());
    await work(database);
    await database.onApplicationShutdown();
    return this.open();
  }

  async open(env: Record<string, string> = {}): Promise<this> {
    this.config = await this.configure(env);
    this.database = new Database(this.config);
    await this.database.migrated();
    this.store = new SessionStore(this.database);
    this.log = new EventLog(this.store);
    return this;
  }

  private async configure(env: Record<string, string> = {}): Promise<Config> {
    this.folder ??= await mkdtemp(join(tmpdir(), 'belay-test-'));
    this.place ??= (await this.databases?.fresh()) ?? {};
    return new Config({ BELAY_DATA: this.folder, BELAY_PORT: '0', ...this.place, ...env });
  }

  /** As if the process had ended and begun again. */
  async reopen(): Promise<this> {
    await this.log.drained();
    await this.database.onApplicationShutdown();
    return this.open();
  }

  async session(id: string, more: Partial<SessionSettingsInput> = {}): Promise<void> {
    const settings = sessionSettings.parse({ task: 'Mend', model: 'scripted:a.yaml', ...more });
    const message = settings.task;
    await this.log.create(id, settings, {
      events: [
        fact('user', 'start', { args: settings, message }),
        fact('server', 'state', { args: { state: 'running', reason: null }, message }),
      ],
    });
  }

  async close(): Promise<void> {
    await this.log.drained();
    await this.database.onApplicationShutdown();
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
  }

  private folder: string | undefined;
  private place: Record<string, string> | undefined;
}

/** Waits until something holds; the limit is generous, for machines under load. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<NonNullable<T>> {
  const end = Date.now() + 20_000;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`It did not come: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
