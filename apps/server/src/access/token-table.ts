import { ignoreError } from '@belay/protocol';
import { notStored, type Database } from '../storage/database.js';
import type { TokenRow } from './token-row.js';

/** The interval at which the last use of a token is stored; it is tracked in memory. */
const lastUsedMs = 60_000;

/** The stored tokens. */
export class TokenTable {
  constructor(private readonly database: Database) {}

  /** The token with this id, or all. */
  read(id?: string): Promise<TokenRow[]> {
    const all = this.database.kysely.selectFrom('access_token').selectAll();
    return (id === undefined ? all : all.where('id', '=', id)).execute();
  }

  async insert(row: TokenRow): Promise<void> {
    await this.database.kysely.insertInto('access_token').values(row).execute().catch(notStored);
  }

  /** Resolves with false, and changes nothing, when the token has another secret by now or is gone. */
  async change({ id, hash }: TokenRow, change: Partial<TokenRow>): Promise<boolean> {
    const { numUpdatedRows } = await this.database.kysely
      .updateTable('access_token')
      .set(change)
      .where('id', '=', id)
      .where('hash', '=', hash)
      .executeTakeFirst()
      .catch(notStored);
    return numUpdatedRows > 0n;
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.database.kysely
      .deleteFrom('access_token')
      .where('id', 'in', ids)
      .execute()
      .catch(notStored);
  }

  /** Stores the time of a use, if the last one was long ago. */
  used(row: TokenRow): void {
    const now = new Date();
    const before = row.last_used === null ? 0 : Date.parse(row.last_used);
    if (now.getTime() - before < lastUsedMs) return;
    row.last_used = now.toISOString();
    void this.database.kysely
      .updateTable('access_token')
      .set({ last_used: row.last_used })
      .where('id', '=', row.id)
      .execute()
      .catch(ignoreError('the time of the last use is not worth a failed request'));
  }
}
