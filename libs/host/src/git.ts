import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import { AppError, ignoreError } from '@belay/protocol';
import { userEnvironment } from './user-environment.js';

/** Where and how git is started. */
export interface GitStart {
  binary: string;
  /** Where git runs; it looks for no repository from there when `environment` names one. */
  folder: string;
  /** Added to an environment that holds nothing of the caller’s. */
  environment: Record<string, string | undefined>;
  /** What the process may use at most; for repositories that nobody has checked. */
  limits?: GitLimits;
}

export interface GitLimits {
  memoryBytes: number;
  /** Of each file that it writes. */
  fileBytes: number;
  cpuSeconds: number;
}

export interface GitOptions extends GitStart {
  input?: Uint8Array;
  /** Bytes of output above which the call fails with `too_large`. */
  maxBytes?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface GitResult {
  code: number | null;
  output: Buffer;
  errors: string;
}

/**
 * Runs git without the settings of user and system, without prompts, and without any transport. The settings of a
 * repository that `environment` or the arguments name do apply: name only one of our own (`PrivateRepository`).
 * Rejects with `unavailable`, `too_large`, `timeout` or `cancelled`; any exit code is a result.
 */
export function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { maxBytes = 1 << 28, timeoutMs = 120_000, signal } = options;
  const child = startGit(args, options);
  const chunks: Buffer[] = [];
  let size = 0;
  let errors = '';
  return new Promise((resolve, reject) => {
    const stop = (error: AppError) => {
      child.kill('SIGKILL');
      reject(error);
    };
    const timer = setTimeout(() => stop(slow(args, timeoutMs)), timeoutMs);
    const cancel = () => stop(new AppError('cancelled', 'The call was cancelled.'));
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted) cancel();
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return chunks.push(chunk);
      stop(
        new AppError('too_large', `The output of git ${args[0]} is larger than ${maxBytes} bytes.`),
      );
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < 20_000) errors += text;
    });
    child.stdin.on('error', ignoreError('git ended before it read all; its exit code is returned'));
    child.stdin.end(options.input ?? '');
    child.once('error', (error) =>
      stop(new AppError('unavailable', `Git could not be started: ${error.message}`)),
    );
    child.once('close', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      resolve({ code, output: Buffer.concat(chunks), errors });
    });
  });
}

/** As `git`, for whoever feeds and reads the process while it runs. Whoever starts it ends it. */
export function startGit(
  args: readonly string[],
  { binary, folder, environment, limits }: GitStart,
): ChildProcessWithoutNullStreams {
  const [file, ...all] = limits ? limited([binary, ...args], limits) : [binary, ...args];
  return spawn(file, all, {
    cwd: folder,
    env: { ...closedEnvironment, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** A shell sets the limits and becomes git; the arguments are not part of its text. */
function limited(
  command: readonly string[],
  { memoryBytes, fileBytes, cpuSeconds }: GitLimits,
): [string, ...string[]] {
  const set = [
    `ulimit -v ${Math.ceil(memoryBytes / 1024)}`,
    `ulimit -f ${Math.ceil(fileBytes / 512)}`,
    `ulimit -t ${Math.ceil(cpuSeconds)}`,
  ];
  // Where a limit cannot be set, such as memory on macOS, the others still hold.
  const script = `${set.map((line) => `${line} 2>/dev/null`).join('; ')}; exec "$@"`;
  return ['/bin/sh', '-c', script, 'git', ...command];
}

/**
 * The git of the search path, as an absolute path; undefined when there is none. One below `untrusted` or of a package
 * is passed over: npm and npx put `node_modules/.bin` of the working folder, and of those above it, first.
 */
export function findGit(untrusted?: string): string | undefined {
  const trusted = (path: string) =>
    !isBelow(path, untrusted) && !/[\\/]node_modules[\\/]/.test(path);
  return userEnvironment()
    .path.split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, 'git'))
    .filter(trusted)
    .map(resolvedProgram)
    .find((path) => path !== undefined && trusted(path));
}

function resolvedProgram(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    const real = realpathSync(path);
    return statSync(real).isFile() ? real : undefined;
  } catch {
    return undefined; // Not in this folder of the search path.
  }
}

const isBelow = (path: string, folder: string | undefined): boolean =>
  folder !== undefined && path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Variables that older versions of git do not know are backed by a HOME without settings. */
const closedEnvironment = {
  PATH: '/usr/bin:/bin',
  LC_ALL: 'C',
  HOME: '/dev/null',
  XDG_CONFIG_HOME: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
};

const slow = (args: readonly string[], timeoutMs: number): AppError =>
  new AppError('timeout', `git ${args[0]} took longer than ${timeoutMs / 1000} s and was ended.`);
