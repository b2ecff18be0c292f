import { notStored, type Database } from './database.js';
import type { DocumentKey } from './document-key.js';

/** A document as it is stored: its JSON, and the number of changes so far; 0 if there is none. */
export interface StoredDocument {
  version: number;
  text: string | undefined;
}

/** The rows of documents, decrypted. */
export class DocumentRows {
  constructor(
    private readonly database: Database,
    private readonly key: DocumentKey,
  ) {}

  /** The versions of all documents, by their names. */
  async versions(): Promise<ReadonlyMap<string, number>> {
    const rows = this.database.kysely.selectFrom('document').select(['name', 'version']);
    return new Map((await rows.execute()).map(({ name, version }) => [name, version]));
  }

  /** The version of a document; 0 if there is none. */
  async version(name: string): Promise<number> {
    const rows = this.database.kysely.selectFrom('document').select('version');
    return (await rows.where('name', '=', name).executeTakeFirst())?.version ?? 0;
  }

  async read(name: string): Promise<StoredDocument> {
    const row = await this.database.kysely
      .selectFrom('document')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst();
    return row
      ? { version: row.version, text: this.key.decrypt(name, row.value) }
      : { version: 0, text: undefined };
  }

  /** Stores the next version. Resolves with false, and stores nothing, when `before` is not the present one. */
  async write(name: string, before: number, text: string): Promise<boolean> {
    const { kysely } = this.database;
    const row = { version: before + 1, value: this.key.encrypt(name, text) };
    if (before > 0) {
      const updated = await kysely
        .updateTable('document')
        .set(row)
        .where('name', '=', name)
        .where('version', '=', before)
        .executeTakeFirst()
        .catch(notStored);
      return updated.numUpdatedRows > 0n;
    }
    const inserted = await kysely
      .insertInto('document')
      .values({ name, ...row })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst()
      .catch(notStored);
    return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
  }
}
