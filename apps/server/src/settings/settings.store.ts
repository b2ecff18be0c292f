import { Injectable } from '@nestjs/common';
import {
  changedDefaults,
  sessionDefaults,
  type SessionDefaults,
  type SessionDefaultsChange,
} from '@belay/protocol';
import { Mutex } from 'async-mutex';
import { Database } from '../storage/database.js';

/** The user’s defaults for new sessions. Unset values are the built-in ones. */
@Injectable()
export class SettingsStore {
  /** Changes are serialized in memory, because a database has one server. */
  readonly #changes = new Mutex();

  constructor(private readonly database: Database) {}

  async read(): Promise<SessionDefaults> {
    const rows = await this.database.kysely.selectFrom('setting').selectAll().execute();
    return sessionDefaults.parse(
      Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value) as unknown])),
    );
  }

  /** Stores a change of the settings; returns the resulting settings. */
  change(change: SessionDefaultsChange): Promise<SessionDefaults> {
    return this.#changes.runExclusive(async () => {
      const settings = changedDefaults(await this.read(), change);
      await this.#write(settings);
      return settings;
    });
  }

  async #write(settings: SessionDefaults): Promise<void> {
    const rows = Object.entries(settings).map(([name, value]) => ({
      name,
      value: JSON.stringify(value),
    }));
    await this.database.kysely
      .insertInto('setting')
      .values(rows)
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet((set) => ({ value: set.ref('excluded.value') })),
      )
      .execute();
  }
}
