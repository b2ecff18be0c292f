import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Docker } from './prepare/docker-api.mjs';

/**
 * A folder for all temporary files of one run of the tests, and a process beside it that removes what the run leaves:
 * that waits until its standard input closes, which the kernel does however the run ends.
 * @param {string} [dockerHost]
 * @returns {{ folder: string, done: () => Promise<void> }} `done` resolves when everything is removed.
 */
export function temporaryRun(dockerHost = '') {
  const folder = mkdtempSync(join(tmpdir(), 'belay-test-'));
  // Some tests work as other users: a database server does.
  chmodSync(folder, 0o711);
  const watcher = spawn(process.execPath, [fileURLToPath(import.meta.url), folder, dockerHost], {
    // A Ctrl-C in the terminal ends the run, and not what cleans up after it.
    detached: true,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise((done) => watcher.once('exit', done));
  return {
    folder,
    async done() {
      watcher.stdin.end();
      await ended;
    },
  };
}

/** Ends the processes and removes the containers and the files of a run. */
export async function removeLeftovers(folder, dockerHost) {
  await endProcesses(folder);
  if (dockerHost) await removeContainers(new Docker(dockerHost), folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Until none is left: one that is found may just be starting another. */
async function endProcesses(folder) {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = processesUsing(folder);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await sleep(50);
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** The processes that have the folder as their TMPDIR, or that work in it. */
export function processesUsing(folder) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => pid !== process.pid && belongsTo(pid, folder));
}

function belongsTo(pid, folder) {
  const variable = `TMPDIR=${folder}`;
  const cwd = tryTo(() => readlinkSync(`/proc/${pid}/cwd`));
  const environment = tryTo(() => readFileSync(`/proc/${pid}/environ`, 'utf8'));
  return (
    environment?.split('\0').includes(variable) === true ||
    cwd === folder ||
    cwd?.startsWith(`${folder}/`) === true
  );
}

/** A process may end while it is looked at, and one of another user may not be looked at. */
function tryTo(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Servers of the tests label what they make with their data folder, which is in that of the run. */
async function removeContainers(docker, folder) {
  const isOurs = ({ Labels }) => Labels?.['belay.data']?.startsWith(`${folder}/`);
  const filters = `filters=${encodeURIComponent(JSON.stringify({ label: ['belay.data'] }))}`;
  for (const found of await docker.get(`/containers/json?all=1&${filters}`))
    if (isOurs(found)) await docker.remove(`/containers/${found.Id}?force=1&v=1`);
  const { Volumes } = await docker.get(`/volumes?${filters}`);
  for (const found of Volumes ?? [])
    if (isOurs(found)) await docker.remove(`/volumes/${found.Name}?force=1`);
  for (const found of await docker.get(`/images/json?${filters}`))
    if (isOurs(found)) await docker.remove(`/images/${found.Id}?force=1`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, dockerHost] = process.argv.slice(2);
  process.stdin.resume();
  process.stdin.once('close', () => void removeLeftovers(folder, dockerHost));
}
