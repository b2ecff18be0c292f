import { existsSync, readFileSync } from 'node:fs';
import { AppError } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { z } from 'zod';
import { writeWhole } from './write-whole.js';

/** A JSON file in the data folder that only the server’s user can read, for example with keys. It is read once. */
export class PrivateFile<T extends z.ZodType> {
  readonly #changes = new Mutex();
  #value: z.output<T>;

  /** `empty` is the content if the file does not exist. Throws `invalid_input` for a file that cannot be read. */
  constructor(
    private readonly path: string,
    schema: T,
    empty: z.output<T>,
  ) {
    this.#value = existsSync(path) ? read(path, schema) : empty;
  }

  get value(): z.output<T> {
    return this.#value;
  }

  /**
   * Changes run one after another. Each takes effect once it is written completely; otherwise the old content stays.
   */
  change(change: (before: z.output<T>) => z.output<T>): Promise<void> {
    return this.#changes.runExclusive(async () => {
      const after = change(this.#value);
      await this.#write(after);
      this.#value = after;
    });
  }

  async #write(content: z.output<T>): Promise<void> {
    try {
      await writeWhole(this.path, JSON.stringify(content));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new AppError('internal', `The data folder could not be written: ${reason}`);
    }
  }
}

function read<T extends z.ZodType>(path: string, schema: T): z.output<T> {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw new AppError(
      'invalid_input',
      `${path} cannot be read: fix it, or remove it and set it up again.`,
    );
  }
}
