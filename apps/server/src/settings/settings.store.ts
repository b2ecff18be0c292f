import { Injectable } from '@nestjs/common';
import {
  changedDefaults,
  sessionDefaults,
  type SessionDefaults,
  type SessionDefaultsChange,
} from '@belay/protocol';
import { Database } from '../storage/database.js';
import type { DatabaseConnection } from '../storage/database-schema.js';
import { exclusively } from '../storage/exclusively.js';

/** The user’s defaults for new sessions. Unset values are the built-in ones. */
@Injectable()
export class SettingsStore {
  constructor(private readonly database: Database) {}

  async read(connection: DatabaseConnection = this.database.kysely): Promise<SessionDefaults> {
    const rows = await connection.selectFrom('setting').selectAll().execute();
    return sessionDefaults.parse(
      Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value) as unknown])),
    );
  }

  /** Stores a change of the settings; returns the resulting settings. */
  change(change: SessionDefaultsChange): Promise<SessionDefaults> {
    return exclusively(this.database, 'setting', async (connection) => {
      const settings = changedDefaults(await this.read(connection), change);
      await this.#write(connection, settings);
      return settings;
    });
  }

  async #write(connection: DatabaseConnection, settings: SessionDefaults): Promise<void> {
    const rows = Object.entries(settings).map(([name, value]) => ({
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
  }
}
