import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The checkout, from which tests run. */
export const repositoryRoot = resolve(__dirname, '../../..');

/** An environment variable that `npm test` sets when it prepares the machine. */
export function prepared(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`${name} is not set: run these tests with npm test, which prepares it.`);
  return value;
}

/** The absolute path of a built file; throws if the file is missing. */
export function built(path: string): string {
  const file = join(repositoryRoot, path);
  if (!existsSync(file)) throw new Error(`${path} is not built: run npm run build first.`);
  return file;
}

/** An environment variable that whoever runs the tests may set. */
export const chosen = (name: string): string | undefined => process.env[name] || undefined;
