import { spawn } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ignoreError } from '@belay/protocol';
import type { Git } from './git.js';
import { asUser } from '../user-separation.js';
import { maxFileBytes, type Recorder } from './recorder.js';

/**
 * Adds the files that the workspace’s own repository tracks although they are ignored (a committed `dist`, say).
 * Only its index is read: listing it runs no program of its settings.
 */
export async function addTrackedFiles(git: Git, recorder: Recorder): Promise<void> {
  const { workspace } = git.places;
  const list = ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard'];
  const { output } = await runInOwnRepository(git, ['-c', 'core.fsmonitor=false', ...list]);
  const files = output.split('\0').filter((path) => {
    if (path === '') return false;
    const stats = lstatSync(join(workspace, path), { throwIfNoEntry: false });
    return stats?.isSymbolicLink() || (stats?.isFile() && stats.size <= maxFileBytes);
  });
  if (files.length === 0) return;
  await recorder.update(files.map((path) => Buffer.from(path).toString('latin1')));
}

/**
 * What git prints about the workspace’s own repository, which is only read, as the user of the sandbox; nothing where
 * there is none. Never rejects; not `ok` when it fails, takes too long or prints more than `maxCharacters`.
 */
export async function runInOwnRepository(
  { places: { binary, workspace, ownTimeoutMs } }: Git,
  command: string[],
  { input = '', maxCharacters = Infinity } = {},
): Promise<{ output: string; ok: boolean }> {
  const repository = join(workspace, '.git');
  if (!lstatSync(repository, { throwIfNoEntry: false })?.isDirectory())
    return { output: '', ok: false };
  const { file, args } = asUser(binary, command);
  const child = spawn(file, args, {
    cwd: workspace,
    stdio: ['pipe', 'pipe', 'ignore'],
    // What a program of the sandbox put there may keep git waiting.
    timeout: ownTimeoutMs,
    killSignal: 'SIGKILL',
    env: {
      GIT_DIR: repository,
      GIT_WORK_TREE: workspace,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_LAZY_FETCH: '1',
    },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (output.length > maxCharacters) child.kill('SIGKILL');
  });
  child.stdin.on('error', ignoreError('git has ended, and its exit code says how')).end(input);
  return new Promise((resolve) => {
    child.once('error', () => resolve({ output: '', ok: false }));
    child.once('close', (code) => resolve({ output, ok: code === 0 }));
  });
}
