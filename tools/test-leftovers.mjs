import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Docker } from './prepare/docker-api.mjs';

/**
 * A folder for all temporary files of one test run, and a process that removes what the run leaves
 * behind. That process waits until its standard input closes, which happens however the run ends.
 * @param {string} [dockerHost]
 * @returns {{ folder: string, done: () => Promise<void> }} `done` resolves when everything is removed.
 */
export function temporaryRun(dockerHost = '') {
  const folder = mkdtempSync(join(tmpdir(), 'belay-test-'));
  // Some tests run programs as other users, such as a database server.
  chmodSync(folder, 0o711);
  const watcher = spawn(process.execPath, [fileURLToPath(import.meta.url), folder, dockerHost], {
    // Ctrl-C in the terminal must end the run, but not its cleanup.
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

/** Ends the processes and removes the containers and files of a run. */
export async function removeLeftovers(folder, dockerHost) {
  await endProcesses(folder);
  if (dockerHost) await removeContainers(new Docker(dockerHost), folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Repeats until none is left, because a process may be starting another when it is found. */
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
    // It has already ended.
  }
}

/** The processes whose TMPDIR is the folder, or that work in it. */
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

/** A process may end during the check, and those of other users may not be readable. */
function tryTo(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/**
 * The servers of tests label their resources with their data folder, which is inside the run’s
 * folder.
 */
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
