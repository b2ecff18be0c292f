import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AppError, visibleText } from '@belay/protocol';
import { isSafePath, type PrivateRepository } from '@belay/host';
import { decidesHowTestsRun, testFileMatcher } from './test-files.js';

/** The files that commands are run on, as trees of git. */
export interface RerunTrees {
  base: string;
  result: string;
  /** The base with the test files of a reproduction; null without one, or with one that is refused. */
  withTests: string | null;
  /** Why there is no such tree for the reproduction: a sentence. */
  refusal: string | null;
  /** The result with the base’s files that decide how tests run; null where it changes none. */
  guarded: string | null;
  /** The same, with the base’s tests, too; null where it changes none of both. */
  guardedTests: string | null;
}

interface TreeChange {
  path: string;
  before: { mode: string; id: string };
  after: { mode: string; id: string };
}

interface RerunTreeOptions {
  /** Commits or trees; the base is from before the change. */
  base: string;
  result: string;
  /** The test files of the result that a reproduction names. */
  files: readonly string[] | undefined;
  /** Globs of paths of tests, in place of the usual ones. */
  testFiles?: readonly string[] | undefined;
  signal: AbortSignal;
}

const maxListBytes = 16 * 2 ** 20;
const noFile = { mode: '0', id: '0'.repeat(40) };

/**
 * Makes the trees of reruns from objects alone: nothing is checked out, and names of files reach git only as data. Paths
 * of the result are chosen by an agent.
 */
export async function rerunTrees(
  repository: PrivateRepository,
  { base, result, files, testFiles, signal }: RerunTreeOptions,
): Promise<RerunTrees> {
  const git = new TreeMaker(repository, signal);
  const trees = await git.treesOf({ base, result });
  const changes = await git.changes(trees.base, trees.result);
  const isTest = testFileMatcher(testFiles);
  const chosen = files && chosenTests(files, { changes, isTest });
  const configuration = changes.filter(({ path }) => decidesHowTestsRun(path));
  const oldTests = changes.filter(({ path, before }) => isTest(path) && exists(before));
  const asBefore = (some: readonly TreeChange[]) =>
    some.length === 0
      ? null
      : git.with(
          trees.result,
          some.map(({ path, before }) => ({ path, ...before })),
        );
  return {
    ...trees,
    withTests:
      chosen === undefined || typeof chosen === 'string'
        ? null
        : await git.with(
            trees.base,
            chosen.map(({ path, after }) => ({ path, ...after })),
          ),
    refusal: typeof chosen === 'string' ? chosen : null,
    guarded: await asBefore(configuration),
    guardedTests: await asBefore([...new Set([...configuration, ...oldTests])]),
  };
}

/** The named files, or a sentence why they are not taken. */
function chosenTests(
  files: readonly string[],
  { changes, isTest }: { changes: readonly TreeChange[]; isTest(path: string): boolean },
): TreeChange[] | string {
  const chosen: TreeChange[] = [];
  for (const path of new Set(files)) {
    const named = visibleText(JSON.stringify(path.slice(0, 200)));
    const found = changes.find((one) => one.path === path);
    if (!isSafePath(path)) return `${named} is not a path for a file.`;
    if (decidesHowTestsRun(path)) return `${named} changes how tests run: name test files alone.`;
    if (!isTest(path)) return `${named} is not a test file by its path: name test files alone.`;
    if (!found)
      return `The change does not contain ${named}: name test files that it adds or edits.`;
    if (!exists(found.after)) return `The change deletes ${named}: name test files that it leaves.`;
    if (!isRegular(found.after)) return `${named} is not a regular file: name files without links.`;
    chosen.push(found);
  }
  return chosen;
}

const exists = ({ mode }: TreeChange['after']): boolean => !/^0+$/.test(mode);
const isRegular = ({ mode }: TreeChange['after']): boolean => /^100(?:644|755)$/.test(mode);

/** Git on trees, with an index of its own. */
class TreeMaker {
  readonly #index: string;

  constructor(
    private readonly repository: PrivateRepository,
    private readonly signal: AbortSignal,
  ) {
    this.#index = join(repository.folder, `${randomUUID()}.index`);
  }

  /** The trees of two commits, or these trees themselves. Throws `not_found`. */
  async treesOf(of: { base: string; result: string }): Promise<{ base: string; result: string }> {
    const input = `${of.base}^{tree}\n${of.result}^{tree}\n`;
    const list = await this.#run(['cat-file', '--batch-check=%(objectname)'], { input });
    const [base = '', result = ''] = list.split('\n');
    // What is not there is told of in more words.
    if (/^[0-9a-f]{40}$/.test(base) && /^[0-9a-f]{40}$/.test(result)) return { base, result };
    throw unreadable('not_found');
  }

  async changes(from: string, to: string): Promise<TreeChange[]> {
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff'];
    const list = await this.#run([...args, from, to]);
    // A name in another encoding would not be the same in the next tree.
    if (list.includes('\ufffd'))
      throw new AppError(
        'invalid_input',
        'The name of a changed file is not UTF-8, so no tests can be run again: rename it.',
      );
    const fields = list.split('\0');
    const changes: TreeChange[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [, mode = '', next = '', id = '', nextId = ''] =
        /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) [A-Z]$/.exec(fields[at] ?? '') ?? [];
      changes.push({
        path: fields[at + 1] ?? '',
        before: { mode, id },
        after: { mode: next, id: nextId },
      });
    }
    return changes;
  }

  /** A tree with other files at these paths; the mode 0 removes one. */
  async with(
    tree: string,
    files: readonly { path: string; mode: string; id: string }[],
  ): Promise<string> {
    await this.#run(['read-tree', tree]);
    // The ones that go first: a folder may take the place of a file.
    const lines = [...files]
      .toSorted((one, other) => Number(exists(one)) - Number(exists(other)))
      .map((file) => {
        const { mode, id } = exists(file) ? file : noFile;
        return `${mode} ${id}\t${file.path}\0`;
      });
    await this.#run(['update-index', '-z', '--index-info'], { input: lines.join('') });
    return this.#run(['write-tree']);
  }

  async #run(args: readonly string[], { input }: { input?: string } = {}): Promise<string> {
    const { repository, signal } = this;
    const result = await repository.run(args, {
      ...(input !== undefined && { input: Buffer.from(input) }),
      environment: { GIT_INDEX_FILE: this.#index },
      maxBytes: maxListBytes,
      signal,
    });
    if (result.code !== 0) throw unreadable('internal');
    return result.output.toString('utf8').replace(/\n$/, '');
  }
}

const unreadable = (code: 'internal' | 'not_found'): AppError =>
  new AppError(code, 'The files to run tests on could not be read with git. Try again.');
