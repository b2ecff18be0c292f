import { Injectable } from '@nestjs/common';
import {
  changedDefaults,
  sessionDefaults,
  type SessionDefaults,
  type SessionDefaultsChange,
} from '@belay/protocol';
import { Database } from '../storage/database.js';

/** What a person has set for all sessions to come. What nobody has set is the built-in value. */
@Injectable()
export class SettingsStore {
  /** Changes follow one another: there is one server to a database. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly database: Database) {}

  async read(): Promise<SessionDefaults> {
    const rows = await this.database.kysely.selectFrom('setting').selectAll().execute();
    return sessionDefaults.parse(
      Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value) as unknown])),
    );
  }

  /** Stores the change over what is there; answers what counts from now on. */
  change(change: SessionDefaultsChange): Promise<SessionDefaults> {
    const changed = this.last.then(async () => {
      const settings = changedDefaults(await this.read(), change);
      await this.write(settings);
      return settings;
    });
    this.last = changed.catch(() => undefined);
    return changed;
  }

  private async write(settings: SessionDefaults): Promise<void> {
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
