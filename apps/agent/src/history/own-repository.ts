import { spawn } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './git.js';
import { asUser } from '../user-separation.js';
import { maxFileBytes, type Recorder } from './recorder.js';

/**
 * Adds the files that the workspace’s own repository tracks although they are ignored (a committed `dist`, say).
 * Only its index is read: listing it runs no program of its settings.
 */
export async function addTrackedFiles(git: Git, recorder: Recorder): Promise<void> {
  const { workspace } = git.places;
  const own = join(workspace, '.git');
  if (!lstatSync(own, { throwIfNoEntry: false })?.isDirectory()) return;
  const tracked = await ignoredButTracked(git, own);
  const files = tracked.filter((path) => {
    const stats = lstatSync(join(workspace, path), { throwIfNoEntry: false });
    return stats?.isSymbolicLink() || (stats?.isFile() && stats.size <= maxFileBytes);
  });
  if (files.length === 0) return;
  await recorder.update(files.map((path) => Buffer.from(path).toString('latin1')));
}

function ignoredButTracked({ places }: Git, own: string): Promise<string[]> {
  const { binary, workspace, ownTimeoutMs } = places;
  const { file, args } = asUser(binary, [
    '-c',
    'core.fsmonitor=false',
    'ls-files',
    '-z',
    '--cached',
    '--ignored',
    '--exclude-standard',
  ]);
  const child = spawn(file, args, {
    cwd: workspace,
    stdio: ['ignore', 'pipe', 'ignore'],
    // What a program of the sandbox put there may keep git waiting.
    timeout: ownTimeoutMs,
    killSignal: 'SIGKILL',
    env: {
      GIT_DIR: own,
      GIT_WORK_TREE: workspace,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_OPTIONAL_LOCKS: '0',
    },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  return new Promise((resolve) => {
    child.once('error', () => resolve([]));
    child.once('close', () => resolve(output.split('\0').filter(Boolean)));
  });
}
