import { Injectable } from '@nestjs/common';
import {
  changedDefaults,
  sessionDefaults,
  type SessionDefaults,
  type SessionDefaultsChange,
} from '@belay/protocol';
import { Database, type Connection } from '../storage/database.js';

/** What a person has set for all sessions to come. What nobody has set is the built-in value. */
@Injectable()
export class SettingsStore {
  constructor(private readonly database: Database) {}

  async read(connection: Connection = this.database.kysely): Promise<SessionDefaults> {
    const rows = await connection.selectFrom('setting').selectAll().execute();
    return sessionDefaults.parse(
      Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value) as unknown])),
    );
  }

  /** Stores the change over what is there; answers what counts from now on. */
  async change(change: SessionDefaultsChange): Promise<SessionDefaults> {
    return this.database.kysely.transaction().execute(async (connection) => {
      const next = changedDefaults(await this.read(connection), change);
      const rows = Object.entries(next).map(([name, value]) => ({
        name,
        value: JSON.stringify(value),
      }));
      await connection
        .insertInto('setting')
        .values(rows)
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet((set) => ({ value: set.ref('excluded.value') })),
        )
        .execute();
      return next;
    });
  }
}
