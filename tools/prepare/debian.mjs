import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from './run-program.mjs';

/** Whether packages can be installed here without asking anybody: root on Debian, Ubuntu or a relative. */
export function canInstall() {
  return process.getuid?.() === 0 && isDebianLike() && findCommand('apt-get') !== undefined;
}

/**
 * Installs packages with their dependencies. Throws an instruction with apt's last lines when one
 * cannot be installed.
 * @param {...string} packages
 */
export async function aptInstall(...packages) {
  await aptGet('update', '-qq');
  await aptGet('install', '-y', '-qq', '--no-install-recommends', ...packages);
}

const lockTimeoutMs = 10 * 60_000;

/**
 * Retries while another apt holds a lock: the system's own, or that of a second `npm test`.
 * `DPkg::Lock::Timeout` would wait for only one of apt's three locks.
 */
async function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const deadline = Date.now() + lockTimeoutMs;
  for (;;) {
    try {
      return await runProgram('apt-get', args, { env });
    } catch (error) {
      if (!/could not get lock/i.test(error.message) || Date.now() > deadline) throw error;
      await sleep(500);
    }
  }
}

export function findCommand(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isDebianLike() {
  try {
    return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}
