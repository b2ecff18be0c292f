import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { hashOfSecret, randomSecret } from '../storage/secrets.js';

/** Names the files that all servers of a database need: those in a bucket with the key of the documents, or the data folder. */
export function sharedFiles({ data, storage, secretKey }: Config): string {
  if (!storage || secretKey === undefined) return dataFolderName(data);
  const { endpoint, bucket, prefix } = storage;
  return hashOfSecret(JSON.stringify([endpoint, bucket, prefix, secretKey]));
}

/** A name that the folder itself has, because servers on several machines may know it by different paths. */
export function dataFolderName(data: string): string {
  const file = join(data, 'folder-name');
  try {
    writeFileSync(file, randomSecret(), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8');
}
