import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database, notStored } from '../storage/database.js';
import { seesAll, type Caller } from './caller.js';

/** Which sessions were begun by a caller that sees only its own. */
@Injectable()
export class SessionOwners implements OnModuleInit {
  /** A deleted session stays in it until the server ends, so that its owner receives that it was deleted. */
  readonly #sessions = new Map<string, Set<string>>();

  constructor(private readonly database: Database) {}

  async onModuleInit(): Promise<void> {
    await this.database.migrated();
    const rows = await this.database.kysely.selectFrom('session_owner').selectAll().execute();
    for (const { session, caller } of rows) this.of(caller).add(session);
  }

  /** The sessions of a caller, now and later. */
  of(caller: string): Set<string> {
    const known = this.#sessions.get(caller) ?? new Set();
    this.#sessions.set(caller, known);
    return known;
  }

  /** Before the session is there, so that its owner sees it from its first event on. */
  async record(session: string, caller: Caller | undefined): Promise<void> {
    if (!caller || seesAll(caller)) return;
    const row = { session, caller: caller.id };
    await this.database.kysely.insertInto('session_owner').values(row).execute().catch(notStored);
    this.of(caller.id).add(session);
  }
}
