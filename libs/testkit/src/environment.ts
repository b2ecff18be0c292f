import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The checkout; tests run from it. */
export const repositoryRoot = resolve(__dirname, '../../..');

/** A variable that `npm test` sets after it has prepared the machine. */
export function prepared(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`${name} is not set: run these tests with npm test, which prepares it.`);
  return value;
}

/** A built file; throws when it is missing, because the tests need it. */
export function built(path: string): string {
  const file = join(repositoryRoot, path);
  if (!existsSync(file)) throw new Error(`${path} is not built: run npm run build first.`);
  return file;
}
