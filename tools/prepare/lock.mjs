import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Does `work` while no other command of this user does work of that name; a dead holder's lock is taken over. */
export async function withLock(name, work, { folder = tmpdir(), onWait = () => {} } = {}) {
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

function take(path) {
  try {
    const file = openSync(path, 'wx');
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
