import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { sql } from 'kysely';
import type { z } from 'zod';
import { Config } from '../config.js';
import { Database } from './database.js';
import type { DocumentTable } from './database-schema.js';
import { Document, type DocumentType } from './document.js';
import { DocumentKey } from './document-key.js';
import { DocumentRows } from './document-rows.js';

/** A document of an earlier version. */
interface DocumentFile {
  name: string;
  path: string;
  text: string;
}

/**
 * The JSON values that the server keeps whole, encrypted in the database: settings with secrets, and short lists. In
 * earlier versions each was a file of the data folder, `NAME.json`, which is taken over.
 */
@Injectable()
export class Documents implements OnModuleInit {
  readonly #stored: ReadonlyMap<string, DocumentTable>;
  /** Encrypts other values of the database, too. */
  readonly key: DocumentKey;
  readonly #rows: DocumentRows;
  readonly #files: DocumentFile[] = [];
  readonly #opened = new Map<string, Pick<Document<z.ZodType>, 'refresh'>>();

  private constructor(
    private readonly config: Config,
    private readonly database: Database,
    stored: readonly DocumentTable[],
  ) {
    this.#stored = new Map(stored.map((row) => [row.name, row]));
    this.key = new DocumentKey(config, stored.length > 0);
    this.#rows = new DocumentRows(database, this.key);
  }

  /** Reads what is stored. Throws `invalid_input` without its key. */
  static async load(config: Config, database: Database): Promise<Documents> {
    await database.migrated();
    const stored = await database.kysely.selectFrom('document').selectAll().execute();
    return new Documents(config, database, stored);
  }

  /**
   * The document as it was when all were read; `empty` if it was never stored. Throws `invalid_input` for one that cannot
   * be read, and `conflict` when a file says something else than the database.
   */
  open<T extends z.ZodType>(name: string, schema: T, empty: z.output<T>): Document<T> {
    const document = this.#open({ name, schema, empty });
    this.#opened.set(name, document);
    return document;
  }

  /** Reads the document of this name, or all, which another server may have changed. */
  async refresh(name?: string): Promise<void> {
    if (name !== undefined) return this.#opened.get(name)?.refresh();
    const versions = await this.#rows.versions();
    for (const [one, document] of this.#opened) await document.refresh(versions.get(one) ?? 0);
  }

  /** The JSON of all documents as they are stored now, also of those that this server has not opened. */
  async stored(): Promise<{ name: string; text: string }[]> {
    const rows = await this.database.kysely.selectFrom('document').selectAll().execute();
    return rows.map(({ name, value }) => ({ name, text: this.key.decrypt(name, value) }));
  }

  #open<T extends z.ZodType>(type: DocumentType<T>): Document<T> {
    const { name } = type;
    const file = this.#fileOf(name);
    const row = this.#stored.get(name);
    const stored = row
      ? { version: row.version, text: this.key.decrypt(name, row.value) }
      : { version: 0, text: undefined };
    if (!file) return new Document(this.#rows, type, stored);
    if (!isReadable(file, type.schema))
      throw new AppError(
        'invalid_input',
        `${file.path} cannot be read: fix it, or remove it and set it up again.`,
      );
    if (row && stored.text !== file.text) throw twoDocuments(file);
    this.#files.push(file);
    return new Document(this.#rows, type, { ...stored, text: file.text });
  }

  /** Takes files over. After a kill in between, the next start finds the same text in both places. */
  async onModuleInit(): Promise<void> {
    for (const file of this.#files) {
      if (this.#stored.has(file.name)) continue;
      if (!(await this.#rows.write(file.name, 0, file.text))) throw twoDocuments(file);
    }
    if (this.#files.length === 0) return;
    // SQLite would write them to the disk later, and a power failure may come before that.
    if (this.database.kind === 'sqlite')
      await sql`pragma wal_checkpoint(truncate)`.execute(this.database.kysely);
    for (const { path } of this.#files.splice(0)) rmSync(path);
  }

  #fileOf(name: string): DocumentFile | undefined {
    const path = join(this.config.data, `${name}.json`);
    try {
      return { name, path, text: readFileSync(path, 'utf8') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

function isReadable({ text }: DocumentFile, schema: z.ZodType): boolean {
  try {
    return schema.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

const twoDocuments = ({ name, path }: DocumentFile): AppError =>
  new AppError(
    'conflict',
    `${path} says something else than the document “${name}” of the database: move the file to another folder to use the database’s.`,
  );
