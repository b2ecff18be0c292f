import { spawn } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ignoreError } from '@belay/protocol';
import type { Git } from './git.js';
import { asUser } from '../user-separation.js';
import { maxFileBytes, type Recorder } from './recorder.js';

/**
 * Adds the files that the workspace’s own repository tracks although they are ignored (for example a committed
 * `dist`). Only its index is read, and listing it runs none of its configured programs.
 */
export async function addTrackedFiles(git: Git, recorder: Recorder): Promise<void> {
  const { workspace } = git.places;
  const list = ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard'];
  const { output } = await runInOwnRepository(git.places, list);
  const files = output.split('\0').filter((path) => {
    if (path === '') return false;
    const stats = lstatSync(join(workspace, path), { throwIfNoEntry: false });
    return stats?.isSymbolicLink() || (stats?.isFile() && stats.size <= maxFileBytes);
  });
  if (files.length === 0) return;
  await recorder.update(files.map((path) => Buffer.from(path).toString('latin1')));
}

interface OwnRepository {
  binary: string;
  workspace: string;
  ownTimeoutMs?: number;
}

interface RunOptions {
  input?: string;
  /** Git is killed when it has printed more. */
  maxCharacters?: number;
  /** Override those of the repository. */
  settings?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * Git’s output about the workspace’s own repository, which is untrusted and only read, as the sandbox’s user: its
 * settings can start no programs here except filters. Empty without a repository. Never rejects; `ok` is false when
 * git fails or is killed.
 */
export async function runInOwnRepository(
  { binary, workspace, ownTimeoutMs: timeout }: OwnRepository,
  command: readonly string[],
  { input = '', maxCharacters = Infinity, settings, signal }: RunOptions = {},
): Promise<{ output: string; ok: boolean }> {
  const repository = join(workspace, '.git');
  if (!lstatSync(repository, { throwIfNoEntry: false })?.isDirectory())
    return { output: '', ok: false };
  const { file, args } = asUser(binary, command);
  const child = spawn(file, args, {
    cwd: workspace,
    stdio: ['pipe', 'pipe', 'ignore'],
    // Files of the sandbox’s programs, such as pipes, may block git.
    timeout,
    signal,
    killSignal: 'SIGKILL',
    env: {
      GIT_DIR: repository,
      GIT_WORK_TREE: workspace,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_LAZY_FETCH: '1',
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
      ...settingVariables({ ...noPrograms, ...settings }),
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

const noPrograms = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'log.showSignature': 'false',
  'protocol.allow': 'never',
};

const settingVariables = (settings: Record<string, string>): Record<string, string> =>
  Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(Object.keys(settings).length)],
    ...Object.entries(settings).flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
