import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';

/** What a file has saved as JSON; undefined where there is no such file, or it has something else. */
export function readSaved<T extends z.ZodType>(file: string, schema: T): z.output<T> | undefined {
  try {
    return schema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** What all files of a folder have saved; those that have something else are removed. */
export function readAllSaved<T extends z.ZodType>(folder: string, schema: T): z.output<T>[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    const found = readSaved(join(folder, name), schema);
    if (found === undefined) rmSync(join(folder, name), { force: true });
    return found === undefined ? [] : [found];
  });
}
