import type { z } from 'zod';
import { assetText } from './asset-text.js';

/** A table of the folder `assets`, read and validated at its first use. */
export function assetTable<T>(name: string, schema: z.ZodType<T>): () => T {
  let table: T | undefined;
  return () => (table ??= schema.parse(JSON.parse(assetText(name))));
}
