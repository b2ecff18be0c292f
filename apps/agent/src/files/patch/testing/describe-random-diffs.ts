import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { treeOf } from '../../../history/testing/history-bench.js';
import { filesBench, type FilesBench } from '../../testing/files-bench.js';

/** Applies git’s diffs of random changes, so many of them. */
export function describeRandomDiffs(rounds: number): void {
  describe('a patch of git', () => {
    let bench: FilesBench;
    beforeEach(() => void (bench = filesBench()));
    afterEach(() => {
      for (const more of ['', '-before', '-after'])
        rmSync(`${bench.root}${more}`, { recursive: true, force: true });
    });

    it(`makes the same tree as git from ${rounds} diffs of random changes`, async () => {
      const random = bench.random(42);
      const before = `${bench.root}-before`;
      const after = `${bench.root}-after`;
      const write = (root: string, path: string, text: string) => {
        mkdirSync(join(root, dirname(path)), { recursive: true });
        writeFileSync(join(root, path), text, 'latin1');
      };
      const end = () => random.pick(['\n', '\n', '\r\n']);
      const lines = (count: number, words: number) =>
        Array.from(
          { length: count },
          () => `w${random.below(words)}${random.pick(['', ' \xc3\xa9', ' --', '\t'])}${end()}`,
        );
      for (let round = 0; round < rounds; round++) {
        for (const root of [before, after, bench.root]) {
          rmSync(root, { recursive: true, force: true });
          mkdirSync(root);
        }
        for (let file = 0; file < 8; file++) {
          const path = random.pick([`f${file}`, `dir/f ${file}`, `d/e/ü"${file}`]);
          const old = lines(random.below(60), 20);
          const now = old.flatMap((line) =>
            random.below(8) > 0 ? [line] : random.pick([[], [line, ...lines(2, 20)], lines(1, 20)]),
          );
          const chop = (text: string) =>
            random.below(4) === 0 ? text.replace(/\r?\n$/, '') : text;
          const kind = random.below(10);
          const text = chop(old.join(''));
          if (kind !== 0) for (const root of [before, bench.root]) write(root, path, text);
          if (kind === 1) continue;
          const target = kind === 2 ? `moved/${file}` : path;
          write(after, target, kind === 3 ? text : chop(now.join('')));
          if (kind === 3) chmodSync(join(after, target), 0o755);
        }
        const output = diffOf(before, after);
        if (output === '') continue;
        await bench.call('files.patch', { patch: output });
        expect(treeOf(bench.root)).toEqual(treeOf(after));
      }
    });
  });
}

/** The diff of git between two folders, with paths as in a repository. Bytes that are not UTF-8 cannot be in a patch that is text. */
function diffOf(before: string, after: string): string {
  const repository = mkdtempSync(join(tmpdir(), 'belay-git-'));
  const settings = [`GIT_DIR=${repository}`, 'GIT_CONFIG_GLOBAL=/dev/null'];
  const git = ['git', '-c', 'core.autocrlf=false'];
  const run = (tree: string, ...args: string[]) =>
    execFileSync('env', [...settings, `GIT_WORK_TREE=${tree}`, ...git, ...args], {
      cwd: tree,
      maxBuffer: 1e8,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  try {
    run(before, 'init', '-q');
    run(before, 'add', '-A');
    const old = run(before, 'write-tree').toString().trim();
    run(after, 'add', '-A');
    const now = run(after, 'write-tree').toString().trim();
    return run(after, 'diff', '-M', old, now).toString('utf8');
  } finally {
    rmSync(repository, { recursive: true });
  }
}
