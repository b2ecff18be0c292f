import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';

/** The JSON content of a file; undefined if the file is missing or does not match the schema. */
export function readSaved<T extends z.ZodType>(file: string, schema: T): z.output<T> | undefined {
  try {
    return schema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** The contents of all files in a folder; files that do not match the schema are removed. */
export function readAllSaved<T extends z.ZodType>(folder: string, schema: T): z.output<T>[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    const found = readSaved(join(folder, name), schema);
    if (found === undefined) rmSync(join(folder, name), { force: true });
    return found === undefined ? [] : [found];
  });
}
