import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ColdChanges } from '../storage/cold-changes.js';
import { Database, notStored } from '../storage/database.js';
import { seesAll, type Caller } from './caller.js';

/** Records which sessions were begun by callers that see only their own. */
@Injectable()
export class SessionOwners implements OnModuleInit {
  /** A deleted session stays listed until the server ends, so that its owner is notified of the deletion. */
  readonly #sessions = new Map<string, Set<string>>();

  constructor(
    private readonly database: Database,
    private readonly changes: ColdChanges,
  ) {
    changes.follow('session_owner', (session) =>
      this.#read(session === undefined ? undefined : [session]),
    );
  }

  async onModuleInit(): Promise<void> {
    await this.database.migrated();
    if (!this.changes.hasRead) await this.#read();
  }

  /** A caller’s sessions; the set is updated later. */
  of(caller: string): Set<string> {
    const known = this.#sessions.get(caller) ?? new Set();
    this.#sessions.set(caller, known);
    return known;
  }

  /**
   * Called before the session exists, so that its owner sees it from its first event on; again for one whose creation a
   * crash interrupted.
   */
  async record(session: string, caller: Caller | undefined): Promise<void> {
    if (!caller || seesAll(caller)) return;
    const row = { session, caller: caller.id };
    await this.database.kysely
      .insertInto('session_owner')
      .values(row)
      .onConflict((conflict) => conflict.column('session').doNothing())
      .execute()
      .catch(notStored);
    this.of(caller.id).add(session);
  }

  /** Reads again who began these sessions: another server may just have recorded it. */
  async readOf(sessions: readonly string[]): Promise<void> {
    if (sessions.length > 0) await this.#read(sessions);
  }

  async #read(some?: readonly string[]): Promise<void> {
    const all = this.database.kysely.selectFrom('session_owner').selectAll();
    const rows = await (some ? all.where('session', 'in', some) : all).execute();
    for (const { session, caller } of rows) this.of(caller).add(session);
  }
}
