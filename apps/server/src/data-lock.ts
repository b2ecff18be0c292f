import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { AppError } from '@belay/protocol';

/**
 * Takes the data folder for this process. The lock is the operating system's, on a file of SQLite,
 * so it is gone with the process, however that ends. Throws `conflict` when another server has it.
 */
export function lockData(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = new SqliteDatabase(join(folder, 'server.lock'), { timeout: 0 });
  try {
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (!String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) throw error;
    throw new AppError(
      'conflict',
      `Another Belay server works on ${folder}: stop it, or set BELAY_DATA to another folder.`,
    );
  }
  return () => lock.close();
}
