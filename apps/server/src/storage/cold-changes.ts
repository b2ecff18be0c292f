import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { AppError, errorFrom, ignoreError } from '@belay/protocol';
import { sql } from 'kysely';
import { Config } from '../config.js';
import { Database } from './database.js';
import { PostgresListener } from './postgres-listener.js';

/** The tables that servers keep in memory, and follow while another server may change them. */
export type FollowedTable = 'document' | 'access_token' | 'account' | 'session_owner';

/** What one server tells the others without changing such a table: `handed` names the server that a session was given to. */
export type ServerNotice = 'handed';

/** `key` names the row that has changed; undefined when any may have. */
export type ColdChangeListener = (key: string | undefined) => Promise<void> | void;

/** How long a lost connection may be replaced, in milliseconds, before what is in memory counts as outdated. */
const outdatedAfterMs = 1_000;
const retryMs = 250;

/**
 * Tells which rows of the tables that are in memory have been changed, by this server or another on the same PostgreSQL
 * database. After a lost connection, all may have been. SQLite has one server, and is not followed.
 */
@Injectable()
export class ColdChanges implements OnModuleInit, BeforeApplicationShutdown {
  readonly #logger = new Logger(ColdChanges.name);
  readonly #listeners = new Map<string, ColdChangeListener[]>();
  #listener: PostgresListener | undefined;
  #lost: number | undefined;
  #hasMissed = false;
  #hasRead = false;
  /** The changes that are to be read: one that comes before is read with it. */
  readonly #waiting = new Set<string>();
  /** One change after another. */
  #work: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
  ) {}

  /** Also called for changes of this server. A listener that rejects is called again, for all rows. */
  follow(table: FollowedTable | ServerNotice, listener: ColdChangeListener): void {
    this.#listeners.set(table, [...(this.#listeners.get(table) ?? []), listener]);
  }

  /** Tells all servers of the database; one that has lost its connection learns only that it may have missed something. */
  async tell(notice: ServerNotice, key: string): Promise<void> {
    await sql`select pg_notify('belay', ${`${notice}:${key}`})`.execute(this.database.kysely);
  }

  /** Throws `unavailable` when another server’s changes may have been missed for some seconds. */
  requireCurrent(): void {
    if (this.#lost === undefined || performance.now() - this.#lost < outdatedAfterMs) return;
    throw new AppError(
      'unavailable',
      'The server has lost its database, and does not know who may use it. Try again.',
    );
  }

  /** Whether every listener has read all rows by now, and need not read them at its start. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** Reads all rows anew. */
  readAll(): Promise<void> {
    return this.#queue(async () => {
      this.#hasMissed = false;
      for (const listener of [...this.#listeners.values()].flat()) await listener(undefined);
      this.#hasRead = true;
    });
  }

  async onModuleInit(): Promise<void> {
    if (this.config.databaseUrl === undefined) return;
    await this.database.migrated();
    await this.#listen(this.config.databaseUrl);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#listener?.close();
    await this.#work;
  }

  async #listen(url: string): Promise<void> {
    let isLost = false;
    this.#listener = await PostgresListener.open(url, {
      received: (payload) => {
        const end = payload.indexOf(':');
        this.#tell(payload.slice(0, end), payload.slice(end + 1));
      },
      lost: () => {
        isLost = true;
        this.#again(url);
      },
    });
    if (this.#isClosed) return this.#listener.close();
    // Whatever was changed before it listened. What is changed now is told after that.
    await this.readAll();
    if (!isLost) this.#lost = undefined;
  }

  #tell(table: string, key: string): void {
    const change = `${table}:${key}`;
    if (this.#waiting.has(change)) return;
    this.#waiting.add(change);
    void this.#queue(async () => void this.#waiting.delete(change));
    for (const listener of this.#listeners.get(table) ?? [])
      void this.#queue(async () => {
        if (this.#hasMissed || this.#isClosed) return;
        try {
          await listener(key);
        } catch (error) {
          this.#logger.error(`${table} ${key}: ${errorFrom(error).message}`);
          // One that depends on this change is not told either, until everything is read anew.
          this.#hasMissed = true;
          await this.#listener?.close();
        }
      });
  }

  #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(ignoreError('whoever waits for it is told'));
    return done;
  }

  #again(url: string): void {
    if (this.#isClosed) return;
    this.#lost ??= performance.now();
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#listen(url).catch(() => this.#listener?.close().then(() => this.#again(url)));
    }, retryMs);
  }
}
