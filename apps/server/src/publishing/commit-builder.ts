import { AppError, type GitIdentity } from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';

const belay: GitIdentity = { name: 'Belay', email: 'belay@localhost' };

/** Makes trees and commits from a patch in a scratch repository: nothing is checked out or run. */
export class CommitBuilder {
  constructor(
    private readonly repository: PrivateRepository,
    private readonly signal: AbortSignal,
  ) {}

  /** The tree of a commit with a patch applied. Throws `conflict` when the patch does not apply. */
  async apply(commit: string, patch: Uint8Array): Promise<string> {
    await this.#run(['read-tree', commit], 'internal');
    if (patch.length > 0) {
      const apply = ['apply', '--cached', '--binary', '--whitespace=nowarn', '-'];
      await this.#run(apply, 'conflict', { input: patch });
    }
    return (await this.#run(['write-tree'], 'internal')).toString().trim();
  }

  /** Applies the difference between two trees to a third. Throws `conflict` when both changed the same lines. */
  async rebase({ from, to, onto }: { from: string; to: string; onto: string }): Promise<string> {
    const diff = ['diff-tree', '-p', '--binary', '--full-index', '--no-ext-diff', '--no-textconv'];
    const patch = await this.#run([...diff, from, to], 'internal');
    return this.apply(onto, patch);
  }

  async treeOf(commit: string): Promise<string> {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`];
    return (await this.#run(args, 'not_found')).toString().trim();
  }

  /** The same commit for the same arguments, wherever it is made; `date` is in ISO 8601. */
  async commit({
    tree,
    parent,
    message,
    author,
    date,
  }: {
    tree: string;
    /** Null for a first commit. */
    parent: string | null;
    message: string;
    author: GitIdentity | null;
    date: string;
  }): Promise<string> {
    const { name, email } = author ?? belay;
    const gitDate = `@${Math.floor(Date.parse(date) / 1_000)} +0000`;
    const parents = parent === null ? [] : ['-p', parent];
    const output = await this.#run(['commit-tree', tree, ...parents], 'internal', {
      input: Buffer.from(`${message}\n`),
      environment: {
        GIT_AUTHOR_NAME: name,
        GIT_AUTHOR_EMAIL: email,
        GIT_AUTHOR_DATE: gitDate,
        GIT_COMMITTER_NAME: belay.name,
        GIT_COMMITTER_EMAIL: belay.email,
        GIT_COMMITTER_DATE: gitDate,
      },
    });
    return output.toString().trim();
  }

  async #run(
    args: readonly string[],
    code: 'conflict' | 'internal' | 'not_found',
    options: { input?: Uint8Array; environment?: Record<string, string> } = {},
  ): Promise<Buffer> {
    const { signal } = this;
    const result = await this.repository.run(args, { ...options, signal });
    if (result.code === 0) return result.output;
    if (code !== 'conflict')
      throw new AppError(code, 'The change could not be read with git. Try again.');
    throw new AppError(
      'conflict',
      `The changes do not apply to the branch${filesIn(result.errors)}. Choose another branch, or bring the session up to date first.`,
    );
  }
}

/** File names in git’s errors, such as `error: patch failed: src/a.ts:12`. */
function filesIn(errors: string): string {
  const names = [...errors.matchAll(/^error: (?:patch failed: )?(.+?):(?:\d+$| )/gm)].map(
    ([, name = '']) => name,
  );
  const some = [...new Set(names)].slice(0, 5);
  return some.length === 0 ? '' : ` in ${some.join(', ')}`;
}
