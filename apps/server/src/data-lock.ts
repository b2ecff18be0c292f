import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { AppError } from '@belay/protocol';

/**
 * Locks the data folder for this process, or for all servers that share their database. The operating system holds the
 * lock, on an SQLite file, so it ends with the process in any case. Throws `conflict` when another server has it.
 */
export function lockData(folder: string, { isShared = false } = {}): () => void {
  let lock: SqliteDatabase.Database | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    lock = new SqliteDatabase(join(folder, 'server.lock'), { timeout: 0 });
    lock.pragma('locking_mode = EXCLUSIVE');
    // A transaction that has read keeps its shared lock.
    lock.exec(isShared ? 'begin; select * from sqlite_schema' : 'begin exclusive');
  } catch (error) {
    lock?.close();
    throw refusal(folder, error as Error & { code?: unknown });
  }
  return () => lock?.close();
}

function refusal(folder: string, { code, message }: Error & { code?: unknown }): AppError {
  const remedy = 'or set BELAY_DATA to another folder.';
  return String(code).startsWith('SQLITE_BUSY')
    ? new AppError('conflict', `Another Belay server is using ${folder}: stop it, ${remedy}`)
    : new AppError(
        'invalid_input',
        `The data folder ${folder} cannot be written (${message}): give this user write access, ${remedy}`,
      );
}
