import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, ignoreError } from '@belay/protocol';
import { isThere } from '../permissions.js';
import { asUser } from '../user-separation.js';

export interface GitPlaces {
  binary: string;
  /** The repository. */
  folder: string;
  workspace: string;
  /** The folder of the objects, if it is not inside the repository. */
  objects?: string;
  /** How long git may take to read the workspace’s own repository, in milliseconds; see `OwnCommits`. */
  ownTimeoutMs: number;
}

interface RunOptions {
  /** A stream that fails kills git. */
  input?: string | Readable;
  /** `latin1` preserves the bytes of paths that are not UTF-8, in input and output. */
  encoding?: 'utf8' | 'latin1';
  /** An exit code besides 0 that is an outcome, not a failure. */
  outcome?: number;
  /** Bytes of output after which git is killed and the result is `truncated`. */
  limit?: number;
  signal?: AbortSignal;
}

/**
 * Runs git on the history’s own repository, without settings, hooks, attributes or programs of the user or the
 * workspace.
 */
export class Git {
  constructor(readonly places: GitPlaces) {}

  async run(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { output } = await this.output(args, options);
    return output.toString(options.encoding ?? 'utf8');
  }

  /** Rejects with `AppError`: `cancelled`, `disk_full`, otherwise `internal` with git’s message. */
  async output(
    args: readonly string[],
    { input = '', encoding = 'utf8', limit = Infinity, signal, outcome = 0 }: RunOptions = {},
  ): Promise<{ output: Buffer; truncated: boolean; code: number | null }> {
    const child = this.#start(args);
    const ended = end(child);
    const stop = () => void child.kill('SIGKILL');
    signal?.addEventListener('abort', stop);
    child.stdin.on('error', ignoreError('git ended before it read all; its exit code is handled'));
    if (typeof input === 'string') child.stdin.end(Buffer.from(input, encoding));
    else pipeline(input, child.stdin).catch(stop);
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      if (size < limit) chunks.push(chunk.subarray(0, limit - size));
      size += chunk.length;
      if (size > limit) stop();
    });
    const { code, errors } = await ended;
    signal?.removeEventListener('abort', stop);
    if (signal?.aborted) throw new AppError('cancelled', 'The call was cancelled.');
    if (code !== 0 && code !== outcome && size <= limit) throw failure(args, errors);
    return { output: Buffer.concat(chunks), truncated: size > limit, code };
  }

  /** The output as a stream; a failure of git destroys it with an `AppError`. */
  stream(args: readonly string[], input = ''): Readable {
    const child = this.#start(args);
    child.stdin.on('error', ignoreError('git ended before it read all; its exit code is handled'));
    child.stdin.end(input);
    const out = new PassThrough();
    out.once('close', () => child.kill('SIGKILL'));
    child.stdout.pipe(out, { end: false });
    end(child).then(
      ({ code, errors }) => (code === 0 ? out.end() : out.destroy(failure(args, errors))),
      (error: Error) => out.destroy(error),
    );
    return out;
  }

  #start(args: readonly string[]): ChildProcessWithoutNullStreams {
    const { binary, folder, workspace, objects } = this.places;
    const core = join(dirname(binary), 'git-core');
    const started = asUser(binary, ['-C', workspace, ...args]);
    return spawn(started.file, started.args, {
      env: {
        GIT_DIR: folder,
        GIT_WORK_TREE: workspace,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_ATTR_NOSYSTEM: '1',
        GIT_LITERAL_PATHSPECS: '1',
        GIT_TERMINAL_PROMPT: '0',
        HOME: folder,
        LC_ALL: 'C',
        ...(objects && { GIT_OBJECT_DIRECTORY: objects }),
        ...(isThere(core) && { GIT_EXEC_PATH: core }),
      },
    });
  }
}

const binaries = ['/opt/belay/git', '/usr/bin/git', '/usr/local/bin/git', '/opt/homebrew/bin/git'];

/** The runtime’s git, otherwise the system’s; null if there is none. */
export const locateGit = (): string | null =>
  binaries.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile()) ?? null;

function end(
  child: ChildProcessWithoutNullStreams,
): Promise<{ code: number | null; errors: string }> {
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    if (errors.length < 4_000) errors += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new AppError('unavailable', `Git could not be started: ${error.message}`)),
    );
    child.once('close', (code) => resolve({ code, errors }));
  });
}

function failure(args: readonly string[], errors: string): AppError {
  // Only the message of git shows that the disk is full.
  if (/No space left on device|Disk quota exceeded/.test(errors)) {
    return new AppError('disk_full', 'The disk is full: the history could not be written.');
  }
  const message = errors.trim().split('\n').slice(-3).join(' ') || 'it was killed';
  const command = args.find((arg, at) => arg !== '-c' && args[at - 1] !== '-c');
  return new AppError('internal', `The history’s git ${command} failed: ${message}`);
}
