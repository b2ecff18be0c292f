import { Injectable } from '@nestjs/common';
import { Database, notStored } from './database.js';
import type { ExpiringValueTable } from './database-schema.js';
import { Documents } from './documents.js';
import { mostCrowded } from './most-crowded.js';
import { hashOfSecret } from './secrets.js';

export type ExpiringKind = ExpiringValueTable['kind'];

export interface NewExpiringValue {
  kind: ExpiringKind;
  /** Whoever knows it gets the value; only its hash is stored. */
  secret: string;
  owner: string;
  text: string;
  expires: number;
  /** Counts against the limit of the owner. */
  size?: number;
}

/** A row as it was when it was read: of two who change it, the first one wins. */
export interface StoredValue {
  kind: ExpiringKind;
  hash: string;
  text: string;
  /** Encrypted anew with each change, so that it is never the same again. */
  value: string;
}

/**
 * Values that are kept in the database for a while, under secrets, so that they outlive the server. They are encrypted,
 * each bound to its secret.
 */
@Injectable()
export class ExpiringValues {
  constructor(
    private readonly database: Database,
    private readonly documents: Documents,
  ) {}

  /** Undefined if there is a value with this secret. What has expired is removed. */
  async add(
    { kind, secret, owner, text, expires, size = 0 }: NewExpiringValue,
    now = Date.now(),
  ): Promise<StoredValue | undefined> {
    const { kysely } = this.database;
    await kysely
      .deleteFrom('expiring_value')
      .where('expires', '<=', now)
      .execute()
      .catch(notStored);
    const stored = this.#stored({ kind, hash: hashOfSecret(secret), text });
    const { hash, value } = stored;
    const { numInsertedOrUpdatedRows = 0n } = await kysely
      .insertInto('expiring_value')
      .values({ kind, hash, owner, expires, size, value })
      .onConflict((conflict) => conflict.columns(['kind', 'hash']).doNothing())
      .executeTakeFirst()
      .catch(notStored);
    return numInsertedOrUpdatedRows > 0n ? stored : undefined;
  }

  /** Adds a value in the place of one with this secret: from now on, it is its owner’s newest. */
  async renew({ kind, secret, owner, text, expires }: NewExpiringValue): Promise<void> {
    const { hash, value } = this.#stored({ kind, hash: hashOfSecret(secret), text });
    await this.database.kysely
      .insertInto('expiring_value')
      .values({ kind, hash, owner, expires, size: 0, value })
      .onConflict((conflict) =>
        conflict.columns(['kind', 'hash']).doUpdateSet(({ ref }) => ({
          id: ref('excluded.id'),
          owner,
          expires,
          size: 0,
          value,
        })),
      )
      .execute()
      .catch(notStored);
  }

  /** Throws `invalid_input` for a value that was encrypted with another key, or was changed or moved. */
  async find(
    kind: ExpiringKind,
    secret: string,
    now = Date.now(),
  ): Promise<StoredValue | undefined> {
    const hash = hashOfSecret(secret);
    const row = await this.database.kysely
      .selectFrom('expiring_value')
      .select('value')
      .where('kind', '=', kind)
      .where('hash', '=', hash)
      .where('expires', '>', now)
      .executeTakeFirst();
    return row && { kind, hash, value: row.value, text: this.#decrypt(kind, hash, row.value) };
  }

  /** Undefined, and nothing is changed, if the row is not as it was read. */
  async replace(before: StoredValue, text: string, size = 0): Promise<StoredValue | undefined> {
    const after = this.#stored({ ...before, text });
    const { numUpdatedRows } = await this.database.kysely
      .updateTable('expiring_value')
      .set({ value: after.value, size })
      .where('kind', '=', before.kind)
      .where('hash', '=', before.hash)
      .where('value', '=', before.value)
      .executeTakeFirst()
      .catch(notStored);
    return numUpdatedRows > 0n ? after : undefined;
  }

  /** Unless the row is not as it was read. */
  async remove({ kind, hash, value }: StoredValue): Promise<void> {
    await this.database.kysely
      .deleteFrom('expiring_value')
      .where('kind', '=', kind)
      .where('hash', '=', hash)
      .where('value', '=', value)
      .execute()
      .catch(notStored);
  }

  /** Removes the value and returns it: to one of those who take it at the same time, on whichever server. */
  async take(
    kind: ExpiringKind,
    secret: string,
    now = Date.now(),
  ): Promise<{ text: string; owner: string } | undefined> {
    const hash = hashOfSecret(secret);
    const row = await this.database.kysely
      .deleteFrom('expiring_value')
      .where('kind', '=', kind)
      .where('hash', '=', hash)
      .returning(['value', 'owner', 'expires'])
      .executeTakeFirst()
      .catch(notStored);
    if (!row || row.expires <= now) return undefined;
    return { text: this.#decrypt(kind, hash, row.value), owner: row.owner };
  }

  /** Removes all values of a kind, or those of one owner. */
  async clear(kind: ExpiringKind, owner?: string): Promise<void> {
    const all = this.database.kysely.deleteFrom('expiring_value').where('kind', '=', kind);
    const rows = owner === undefined ? all : all.where('owner', '=', owner);
    await rows.execute().catch(notStored);
  }

  /** Removes the oldest values of an owner, until both limits are kept. */
  async limitOf(
    kind: ExpiringKind,
    owner: string,
    limits: { rows: number; size: number },
  ): Promise<void> {
    const { kysely } = this.database;
    const own = kysely
      .selectFrom('expiring_value')
      .where('kind', '=', kind)
      .where('owner', '=', owner);
    const { rows, size } = await own
      .select(({ fn }) => [fn.countAll().as('rows'), fn.sum('size').as('size')])
      .executeTakeFirstOrThrow();
    if (Number(rows) <= limits.rows && Number(size) <= limits.size) return;
    const newest = await own.select(['id', 'size']).orderBy('id', 'desc').execute();
    let total = 0;
    const over = newest.find((row, index) => {
      total += row.size;
      return index >= limits.rows || total > limits.size;
    });
    if (!over) return;
    await kysely
      .deleteFrom('expiring_value')
      .where('kind', '=', kind)
      .where('owner', '=', owner)
      .where('id', '<=', over.id)
      .execute()
      .catch(notStored);
  }

  /** Of more than this number of a kind, removes the oldest of the owner with the most. */
  async limitAll(kind: ExpiringKind, max: number): Promise<void> {
    const { kysely } = this.database;
    const all = kysely.selectFrom('expiring_value').where('kind', '=', kind);
    const { rows } = await all
      .select(({ fn }) => fn.countAll().as('rows'))
      .executeTakeFirstOrThrow();
    if (Number(rows) <= max) return;
    const entries = await all.select(['id', 'owner']).orderBy('id').execute();
    const one = mostCrowded(entries, ({ owner }) => owner);
    if (one)
      await kysely.deleteFrom('expiring_value').where('id', '=', one.id).execute().catch(notStored);
  }

  #stored({ kind, hash, text }: Omit<StoredValue, 'value'>): StoredValue {
    return { kind, hash, text, value: this.documents.key.encrypt(nameOf(kind, hash), text) };
  }

  #decrypt(kind: ExpiringKind, hash: string, value: string): string {
    return this.documents.key.decrypt(nameOf(kind, hash), value);
  }
}

const nameOf = (kind: ExpiringKind, hash: string): string => `${kind} ${hash}`;
