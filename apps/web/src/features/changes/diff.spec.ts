import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseDiff, reversePatch } from './diff';

const diff = `diff --git a/src/sum.js b/src/sum.js
index 1111111..2222222 100644
--- a/src/sum.js
+++ b/src/sum.js
@@ -1,3 +1,4 @@ function sum
 first
-return a - b
+// Adds.
+return a + b
 last
@@ -10,2 +11,1 @@
-gone
 kept
diff --git a/new file.txt b/new file.txt
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/new file.txt
@@ -0,0 +1 @@
+hello
\\ No newline at end of file
diff --git a/logo.png b/logo.png
index 4444444..5555555 100644
Binary files a/logo.png and b/logo.png differ
`;

describe('parseDiff', () => {
  const files = parseDiff(diff);

  it('splits files and hunks', () => {
    expect(files.map(({ path, hunks, binary }) => [path, hunks.length, binary])).toEqual([
      ['src/sum.js', 2, false],
      ['new file.txt', 1, false],
      ['logo.png', 0, true],
    ]);
    expect(files[1]?.from).toBeNull();
  });

  it('numbers lines before and after', () => {
    const lines = files[0]?.hunks[0]?.lines.map(({ kind, before, after }) => [kind, before, after]);
    expect(lines).toEqual([
      [' ', 1, 1],
      ['-', 2, null],
      ['+', null, 2],
      ['+', null, 3],
      [' ', 3, 4],
    ]);
  });
});

describe('reversePatch', () => {
  const folder = mkdtempSync(join(tmpdir(), 'diff-'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
  const file = join(folder, 'a.txt');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('undoes one hunk and leaves the others when git applies it', () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    git('init', '-q');
    writeFileSync(file, `${before.join('\n')}\n`);
    git('add', '.');
    git('commit', '-qm', 'first');
    const after = before.with(2, 'CHANGED').toSpliced(20, 1, 'x', 'y');
    writeFileSync(file, after.join('\n'));
    writeFileSync(join(folder, 'b.txt'), 'new');
    git('add', '.');
    const [changed, made] = parseDiff(git('diff', '--cached'));
    for (const [index, patched] of [
      [1, changed!],
      [0, made!],
    ] as const)
      execFileSync('git', ['apply', '-'], {
        cwd: folder,
        input: reversePatch(patched, patched.hunks[index]!),
      });
    expect(readFileSync(file, 'utf8').split('\n').slice(0, 24)).toEqual(
      before.with(2, 'CHANGED').slice(0, 24),
    );
    expect(existsSync(join(folder, 'b.txt'))).toBe(false);
  });

  it('undoes a hunk of a renamed file under its new name', () => {
    git('commit', '-qam', 'second');
    git('mv', 'a.txt', 'c.txt');
    const before = readFileSync(join(folder, 'c.txt'), 'utf8');
    writeFileSync(join(folder, 'c.txt'), before.replace('line 5', 'FIVE'));
    git('add', '.');
    const [renamed] = parseDiff(git('diff', '--cached', '--find-renames'));
    expect([renamed!.from, renamed!.to]).toEqual(['a.txt', 'c.txt']);
    execFileSync('git', ['apply', '-'], {
      cwd: folder,
      input: reversePatch(renamed!, renamed!.hunks[0]!),
    });
    expect(readFileSync(join(folder, 'c.txt'), 'utf8')).toBe(before);
    expect(existsSync(file)).toBe(false);
  });

  it.each(['docs/größe.md', 'a "quoted" name', 'tab\tand space', '表.txt'])(
    'parses and undoes changes of %j',
    (name) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), 'before\n');
      git('add', '.');
      git('commit', '-qm', 'named');
      writeFileSync(join(folder, name), 'after\n');
      git('add', '.');
      const [changed] = parseDiff(git('diff', '--cached'));
      expect([changed!.path, changed!.from, changed!.to]).toEqual([name, name, name]);
      execFileSync('git', ['apply', '-'], {
        cwd: folder,
        input: reversePatch(changed!, changed!.hunks[0]!),
      });
      expect(readFileSync(join(folder, name), 'utf8')).toBe('before\n');
      writeFileSync(join(folder, name), '');
      git('add', '.');
      const [emptied] = parseDiff(git('diff', 'HEAD', '--summary', '-p', '--cached'));
      expect(emptied!.path).toBe(name);
      git('reset', '-q', '--hard');
    },
  );
});
