import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { AppError } from '@belay/protocol';
import {
  findGit,
  git,
  startGit,
  type GitLimits,
  type GitOptions,
  type GitResult,
  type GitStart,
} from './git.js';

type RunOptions = Pick<GitOptions, 'input' | 'maxBytes' | 'timeoutMs' | 'signal'> & {
  /** A folder of the work tree in which git runs. */
  folder?: string;
  /** Added to those that name this repository, such as another index. */
  environment?: Record<string, string | undefined>;
};

interface NewRepository {
  /** Without one it has an empty one. */
  workTree?: string | undefined;
  untrusted?: string | undefined;
  /** The folder that it is made in; the temporary one when omitted. */
  parent?: string | undefined;
  /** Of each run of git on it. */
  limits?: GitLimits | undefined;
}

/**
 * An empty repository in the temporary folder, for work on files that are not trusted. Git reads the settings, hooks
 * and attributes of this repository alone: a `.git` in the work tree, of whatever kind, is not opened, and what
 * `.gitattributes` asks for is overridden.
 */
export class PrivateRepository {
  readonly #binary: string;
  readonly #workTree: string;
  readonly #limits: GitLimits | undefined;

  private constructor(
    readonly folder: string,
    { binary, workTree, limits }: { binary: string; workTree: string; limits?: GitLimits },
  ) {
    this.#binary = binary;
    this.#workTree = workTree;
    this.#limits = limits;
  }

  /** Rejects with `unavailable` where there is no git. */
  static async create({ workTree, untrusted, parent = tmpdir(), limits }: NewRepository = {}) {
    const binary = findGit(untrusted ?? workTree);
    if (!binary)
      throw new AppError('unavailable', 'Git is not installed on this machine. Install it.');
    const top = await realpath(await mkdtemp(join(parent, 'belay-git-')));
    const folder = join(top, 'repository');
    const empty = join(top, 'empty');
    for (const path of ['objects', 'refs/heads', 'info']) {
      await mkdir(join(folder, path), { recursive: true });
    }
    await mkdir(empty);
    await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
    await writeFile(join(folder, 'config'), config);
    await writeFile(join(folder, 'info/attributes'), attributes);
    return new PrivateRepository(folder, {
      binary,
      workTree: workTree ?? empty,
      ...(limits && { limits }),
    });
  }

  async remove(): Promise<void> {
    await rm(join(this.folder, '..'), { recursive: true, force: true });
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    return git(args, { ...options, ...this.#start(options) });
  }

  /** A run that the caller feeds, reads and ends. */
  start(args: readonly string[], options: RunOptions = {}): ChildProcessWithoutNullStreams {
    return startGit(args, this.#start(options));
  }

  #start({ folder = this.#workTree, environment }: RunOptions): GitStart {
    return {
      binary: this.#binary,
      folder,
      environment: { GIT_DIR: this.folder, GIT_WORK_TREE: this.#workTree, ...environment },
      ...(this.#limits && { limits: this.#limits }),
    };
  }

  /** Stores bytes as they are, and returns the id of the blob. */
  async addBlob(bytes: Uint8Array): Promise<string> {
    const content = Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]);
    const id = createHash('sha1').update(content).digest('hex');
    const folder = join(this.folder, 'objects', id.slice(0, 2));
    const file = join(folder, id.slice(2));
    if (existsSync(file)) return id;
    await mkdir(folder, { recursive: true });
    await writeFile(file, deflateSync(content, { level: 1 }));
    return id;
  }
}

/** Bytes as they are, no program but git, and the names of `.git` on any file system refused. */
const config = `[core]
	repositoryFormatVersion = 0
	bare = false
	fileMode = true
	symlinks = true
	ignoreCase = false
	logAllRefUpdates = false
	autoCrlf = false
	safeCrlf = false
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	fsmonitor = false
	untrackedCache = false
	protectHFS = true
	protectNTFS = true
[gc]
	auto = 0
[maintenance]
	auto = false
[submodule]
	recurse = false
[protocol]
	allow = never
`;

const attributes =
  '* -text -ident !eol !crlf !filter !working-tree-encoding !diff !merge !whitespace !export-ignore !export-subst\n';
