import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findGit, git, PrivateRepository, userEnvironment } from '@belay/host';
import { AppError, evidenceTrailer } from '@belay/protocol';
import { singleLine } from '../output.js';
import type { PullRequestRef } from './pull-request-ref.js';

/** What git knows of a commit. */
export interface ReadCommit {
  commit: string;
  tree: string;
  parents: string[];
  /** SHA-256 of the list of changed files. */
  changes: string;
  /** The ids of the records that its message names. */
  evidence: string[];
}

const fetchTimeoutMs = 10 * 60_000;

/**
 * Reads commits of a folder’s repository through one of its own, so that neither its settings nor its replaced objects
 * count.
 */
export class CommitReader {
  private constructor(
    private readonly folder: string,
    private readonly own: PrivateRepository,
    private readonly objects: string,
  ) {}

  /** Throws `invalid_input` for a folder that is not there, or has no repository. */
  static async open(folder: string): Promise<CommitReader> {
    if (!existsSync(folder))
      throw new AppError(
        'invalid_input',
        `There is no folder ${folder}. Name a clone with --repo.`,
      );
    const { code, output } = await inFolder(folder, ['rev-parse', '--git-path', 'objects']);
    if (code !== 0)
      throw new AppError(
        'invalid_input',
        `${folder} is not in a git repository. Name a clone with --repo FOLDER.`,
      );
    const objects = resolve(folder, output.toString().trimEnd());
    return new CommitReader(folder, await PrivateRepository.create(), objects);
  }

  /**
   * The commit of a pull request at its head, and all that verifying needs, fetched with what the user’s git knows of the
   * host, such as a login. Throws `unavailable` when it cannot be fetched.
   */
  static async fetch({ repository, ref }: PullRequestRef): Promise<CommitReader> {
    const own = await PrivateRepository.create();
    // The files themselves are not needed.
    const less = ['--no-tags', '--depth=2', '--filter=blob:none'];
    const { code, errors } = await own.run(
      ['fetch', '--quiet', '--update-head-ok', ...less, repository, `+${ref}:refs/heads/main`],
      {
        environment: fetchEnvironment(),
        timeoutMs: fetchTimeoutMs,
      },
    );
    if (code === 0) return new CommitReader(own.folder, own, join(own.folder, 'objects'));
    await own.remove();
    throw new AppError(
      'unavailable',
      `${ref} of ${repository} could not be fetched: ${singleLine(errors.trim(), 300)}`,
    );
  }

  close(): Promise<void> {
    return this.own.remove();
  }

  /** The id of a commit by any name that git knows; undefined if it is not in the repository. */
  async find(name: string): Promise<string | undefined> {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
    const { code, output } = await inFolder(this.folder, args);
    return code === 0 ? output.toString().trim() : undefined;
  }

  async read(commit: string): Promise<ReadCommit> {
    const format = `--format=%T%n%P%n%(trailers:key=${evidenceTrailer},valueonly)`;
    const shown = (await this.#run(['log', '-1', format, commit])).toString().split('\n');
    const [tree = '', parents = '', ...evidence] = shown;
    const list = ['diff-tree', '-r', '-z', '--no-abbrev', '--no-renames'];
    const [first] = parents.split(' ').filter(Boolean);
    const changes = first ? await this.#run([...list, first, commit]) : Buffer.alloc(0);
    return {
      commit,
      tree,
      parents: parents.split(' ').filter(Boolean),
      changes: createHash('sha256').update(changes).digest('hex'),
      evidence: evidence.flatMap((line) => /^sha256:([0-9a-f]{64})$/.exec(line.trim())?.[1] ?? []),
    };
  }

  async #run(args: readonly string[]): Promise<Buffer> {
    const environment = { GIT_ALTERNATE_OBJECT_DIRECTORIES: this.objects };
    const { code, output } = await this.own.run(args, { environment });
    if (code === 0) return output;
    throw new AppError(
      'invalid_input',
      'The commit and its parent are not whole in the repository. Fetch them, such as with git fetch --unshallow.',
    );
  }
}

/** For a fetch of what the user named: with their settings, such as logins, and without local transports. */
function fetchEnvironment(): Record<string, string | undefined> {
  const { path, home, settings } = userEnvironment();
  return {
    PATH: path,
    HOME: home,
    XDG_CONFIG_HOME: settings,
    GIT_CONFIG_NOSYSTEM: undefined,
    GIT_CONFIG_SYSTEM: undefined,
    GIT_CONFIG_GLOBAL: undefined,
    GIT_ALLOW_PROTOCOL: 'http:https:ssh',
  };
}

async function inFolder(folder: string, args: readonly string[]) {
  const binary = findGit(folder);
  if (!binary)
    throw new AppError('unavailable', 'Git is not installed on this machine. Install it.');
  return git(args, { binary, folder, environment: {} });
}
