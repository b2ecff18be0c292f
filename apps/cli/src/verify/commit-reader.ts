import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { findGit, git, PrivateRepository } from '@belay/host';
import { AppError, evidenceTrailer } from '@belay/protocol';

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

  /** Throws `invalid_input` for a folder without a repository. */
  static async open(folder: string): Promise<CommitReader> {
    const { code, output } = await inFolder(folder, ['rev-parse', '--git-path', 'objects']);
    if (code !== 0)
      throw new AppError(
        'invalid_input',
        `${folder} is not in a git repository. Name a clone with --repo FOLDER.`,
      );
    const objects = resolve(folder, output.toString().trimEnd());
    return new CommitReader(folder, await PrivateRepository.create(), objects);
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

async function inFolder(folder: string, args: readonly string[]) {
  const binary = findGit(folder);
  if (!binary)
    throw new AppError('unavailable', 'Git is not installed on this machine. Install it.');
  return git(args, { binary, folder, environment: {} });
}
