import { AppError } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { z } from 'zod';
import type { DocumentRows, StoredDocument } from './document-rows.js';

export interface DocumentType<T extends z.ZodType> {
  name: string;
  schema: T;
  /** The value of a document that was never stored. */
  empty: z.output<T>;
}

/** A value in the database that is read once and changed by its version, so that no writer undoes another’s change. */
export class Document<T extends z.ZodType> {
  readonly #changes = new Mutex();
  readonly #listeners: ((before: z.output<T>) => void)[] = [];
  #version: number;
  #value: z.output<T>;

  /** Throws `invalid_input` for a stored text that cannot be read. */
  constructor(
    private readonly rows: DocumentRows,
    private readonly type: DocumentType<T>,
    { version, text }: StoredDocument,
  ) {
    this.#version = version;
    this.#value = valueOf(type, text);
  }

  get value(): z.output<T> {
    return this.#value;
  }

  /**
   * Changes run one after another; each takes effect once it is stored, and otherwise the old value stays. When another
   * server has changed the value meanwhile, `change` is called again, with that one.
   */
  change(change: (before: z.output<T>) => z.output<T>): Promise<void> {
    return this.#changes.runExclusive(async () => {
      const { name } = this.type;
      for (;;) {
        const after = change(this.#value);
        if (await this.rows.write(name, this.#version, JSON.stringify(after))) {
          this.#version += 1;
          this.#value = after;
          return;
        }
        this.#set(await this.rows.read(name));
      }
    });
  }

  /** Reads what another server may have changed, unless this `version` is known. */
  async refresh(version?: number): Promise<void> {
    if (version !== undefined && version === this.#version) return;
    await this.#changes.runExclusive(async () => {
      const { name } = this.type;
      // This server’s own changes are told to it as well.
      if ((await this.rows.version(name)) !== this.#version) this.#set(await this.rows.read(name));
    });
  }

  /** Calls the listener with the former value whenever another server’s change has been read. */
  onRead(listener: (before: z.output<T>) => void): void {
    this.#listeners.push(listener);
  }

  #set({ version, text }: StoredDocument): void {
    const before = this.#value;
    this.#value = valueOf(this.type, text);
    this.#version = version;
    for (const listener of this.#listeners) listener(before);
  }
}

function valueOf<T extends z.ZodType>(
  { name, schema, empty }: DocumentType<T>,
  text: string | undefined,
): z.output<T> {
  if (text === undefined) return empty;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new AppError(
      'invalid_input',
      `The document “${name}” of the database cannot be read: delete its row of the table document, and set it up again.`,
    );
  }
}
