import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Instruction } from './steps.mjs';

/**
 * Runs `work` while no other command of this user runs work of that name; the lock of a dead holder
 * is taken over. The folder is private, because in a shared one, another user’s lock could block
 * this one forever.
 */
export async function withLock(name, work, { folder = lockFolder(), onWait = () => {} } = {}) {
  makePrivate(folder);
  const path = join(folder, `belay-${process.getuid?.() ?? 0}-${name}.lock`);
  let told = false;
  while (!take(path)) {
    if (isStale(path)) rmSync(path, { force: true });
    else {
      if (!told) onWait();
      told = true;
      await sleep(200);
    }
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** The XDG cache folder, never the temporary folder. */
export function lockFolder(env = process.env) {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'belay', 'locks');
}

function makePrivate(folder) {
  const uid = process.getuid?.() ?? 0;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (statSync(folder).uid === uid) return chmodSync(folder, 0o700);
  } catch (error) {
    throw new Instruction(
      `The folder ${folder} cannot be used (${error.code}): make it writable, or set XDG_CACHE_HOME to another one.`,
    );
  }
  throw new Instruction(
    `The folder ${folder} belongs to another user: remove it, or set XDG_CACHE_HOME to one of your own.`,
  );
}

function take(path) {
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isStale(path) {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (!pid) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
