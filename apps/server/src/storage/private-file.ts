import { existsSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { AppError } from '@belay/protocol';
import type { z } from 'zod';

/** A JSON file in the data folder that only the server's user can read: the place of keys. */
export class PrivateFile<T extends z.ZodType> {
  constructor(
    private readonly path: string,
    private readonly schema: T,
  ) {}

  /** Undefined when there is none yet; throws `invalid_input` for one that cannot be read. */
  read(): z.output<T> | undefined {
    if (!existsSync(this.path)) return undefined;
    try {
      return this.schema.parse(JSON.parse(readFileSync(this.path, 'utf8')));
    } catch {
      throw new AppError(
        'invalid_input',
        `${this.path} cannot be read: mend it, or remove it and set up again what it held.`,
      );
    }
  }

  /** The new content whole, or the old one. */
  async write(content: z.input<T>): Promise<void> {
    const draft = `${this.path}.new`;
    try {
      await writeFile(draft, JSON.stringify(content), { mode: 0o600 });
      await rename(draft, this.path);
    } catch (error) {
      await rm(draft, { force: true });
      const reason = error instanceof Error ? error.message : String(error);
      throw new AppError('internal', `The data folder could not be written: ${reason}`);
    }
  }
}
