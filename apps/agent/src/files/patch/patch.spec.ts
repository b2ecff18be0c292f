import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesBench, type FilesBench } from '../testing/files-bench.js';
import { treeOf } from '../../history/testing/history-bench.js';
import { describeRandomDiffs } from './testing/describe-random-diffs.js';

let bench: FilesBench;
beforeEach(() => {
  bench = filesBench();
});
afterEach(() => bench.remove());

const put = (path: string, text: string) => {
  mkdirSync(join(bench.root, dirname(path)), { recursive: true });
  writeFileSync(join(bench.root, path), text, 'latin1');
};
const bytesOf = (path: string) => readFileSync(join(bench.root, path), 'latin1');
const patch = (...lines: string[]) => bench.call('files.patch', { patch: `${lines.join('\n')}\n` });
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}`);

describe('where hunks go', () => {
  it('applies several hunks to several files and reports each change', async () => {
    put('a', numbered(30).join('\n') + '\n');
    put('b', 'x\n');
    const result = await patch(
      'Some words before, as in a mail.',
      'diff --git a/a b/a',
      'index 123..456 100644',
      '--- a/a',
      '+++ b/a',
      '@@ -1,3 +1,4 @@ heading',
      ' line 1',
      '+new',
      ' line 2',
      ' line 3',
      '@@ -20,3 +21,2 @@',
      ' line 20',
      '-line 21',
      ' line 22',
      '--- b\t2020-01-01',
      '+++ b\t2020-01-02',
      '@@ -1 +1 @@',
      '-x',
      '+y',
      '-- ',
      '2.39.5',
    );
    expect(result.files).toMatchObject([
      { path: 'a', added: 1, removed: 1, offsets: [0, 0], version: 'd5f53d1e5c139bcd' },
      { path: 'b', added: 1, removed: 1, offsets: [0], version: '975fbec8256d3e8a' },
    ]);
    expect(bytesOf('a').split('\n').slice(0, 3)).toEqual(['line 1', 'new', 'line 2']);
    expect(bytesOf('b')).toBe('y\n');
    expect(bench.codes()).toEqual([
      { path: 'a', line: 2, change: 'INSERT', content: ['new'], removed: 0, truncated: false },
      { path: 'a', line: 22, change: 'DELETE', content: [], removed: 1, truncated: false },
      {
        path: 'b',
        line: 1,
        change: 'REPLACE',
        content: ['y'],
        removed: 1,
        truncated: false,
        version: '975fbec8256d3e8a',
      },
    ]);
  });

  it('searches outward from the stated line, nearest first, and reports how far', async () => {
    put('a', ['x', 'y', ...numbered(9), 'x', 'y', ...numbered(9), 'x', 'y', ''].join('\n'));
    const result = await patch('--- a/a', '+++ b/a', '@@ -14,2 +14,2 @@', ' x', '-y', '+z');
    expect(result.files[0]?.offsets).toEqual([-2]);
    expect(bytesOf('a').split('\n')[12]).toBe('z');
  });

  it('takes wrong counts, blank context lines without their space, and no counts at all', async () => {
    put('a', 'one\n\ntwo\nthree\n');
    await patch('--- a/a', '+++ b/a', '@@ -1,9 +1,7 @@', ' one', '', '-two', '+2', '+2b', ' three');
    expect(bytesOf('a')).toBe('one\n\n2\n2b\nthree\n');
    await patch('--- a/a', '+++ b/a', '@@ -3,1 +3,1 @@', '-2', '-2b', '+two', ' three');
    expect(bytesOf('a')).toBe('one\n\ntwo\nthree\n');
  });

  it('distinguishes removed lines that look like headers from headers', async () => {
    put('a.sql', '-- old\n++ kept\nselect 1;\n');
    await patch(
      '--- a/a.sql',
      '+++ b/a.sql',
      '@@ -1,3 +1,3 @@',
      '--- old',
      '+-- new',
      ' ++ kept',
      ' select 1;',
    );
    expect(bytesOf('a.sql')).toBe('-- new\n++ kept\nselect 1;\n');
  });
});

describe('bytes', () => {
  it.each([
    ['adds a final line end', 'a\nb', [' a', '-b', '\\ No newline at end of file', '+b'], 'a\nb\n'],
    [
      'takes a final line end away',
      'a\nb\n',
      [' a', '-b', '+b', '\\ No newline at end of file'],
      'a\nb',
    ],
    ['keeps CR LF', 'a\r\nb\r\n', [' a\r', '-b\r', '+c\r'], 'a\r\nc\r\n'],
    [
      'gives added lines the ends around',
      'a\r\nb\r\nc\r\n',
      [' a', '-b', '+x', '+y', ' c'],
      'a\r\nx\r\ny\r\nc\r\n',
    ],
    ['takes a patch in CR LF for a file in LF', 'a\nb\n', [' a\r', '-b\r', '+c\r'], 'a\nc\n'],
    [
      'keeps mixed ends of context',
      'a\r\nb\nc\r\n',
      [' a', '+x', ' b', ' c'],
      'a\r\nx\r\nb\nc\r\n',
    ],
    ['changes line ends when requested', 'a\nb\n', ['-a', '-b', '+a\r', '+b\r'], 'a\r\nb\r\n'],
    ['forgives a missing no-newline marker', 'a\nb', [' a', '-b', '+c', '+d'], 'a\nc\nd'],
    ['appends after an open end', 'a', [' a', '+b'], 'a\nb'],
    ['keeps what is not UTF-8', 'caf\xe9\nb\n', ['-b', '+c'], 'caf\xe9\nc\n'],
    ['keeps a byte order mark', '\xef\xbb\xbfa\nb\n', ['-b', '+c'], '\xef\xbb\xbfa\nc\n'],
  ])('%s', async (_, before, hunk, after) => {
    put('f', before);
    await patch('--- a/f', '+++ b/f', '@@ -1,9 +1,9 @@', ...hunk);
    expect(bytesOf('f')).toBe(after);
  });
});

describe('files', () => {
  it('creates, deletes, renames, copies and changes modes', async () => {
    put('gone', 'x\n');
    put('old name', 'a\nb\n');
    put('tool', '#!/bin/sh\n');
    put('src', 's\n');
    const { files } = await patch(
      'diff --git a/new/deep b/new/deep',
      'new file mode 100755',
      '--- /dev/null',
      '+++ b/new/deep',
      '@@ -0,0 +1,2 @@',
      '+1',
      '+2',
      'diff --git a/empty b/empty',
      'new file mode 100644',
      'index 000..e69',
      'diff --git a/gone b/gone',
      'deleted file mode 100644',
      '--- a/gone',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      'diff --git a/old name b/näme',
      'similarity index 50%',
      'rename from old name',
      'rename to "n\\303\\244me"',
      '--- a/old name\t',
      '+++ "b/n\\303\\244me"',
      '@@ -1,2 +1,2 @@',
      ' a',
      '-b',
      '+c',
      'diff --git a/tool b/tool',
      'old mode 100644',
      'new mode 100755',
      'diff --git a/src b/copy',
      'similarity index 100%',
      'copy from src',
      'copy to copy',
    );
    expect(files.map(({ path }) => path)).toEqual([
      'new/deep',
      'empty',
      'gone',
      'näme',
      'tool',
      'copy',
    ]);
    expect(treeOf(bench.root)).toEqual({
      'new/deep': 'x 1\n2\n',
      empty: '',
      näme: 'a\nc\n',
      tool: 'x #!/bin/sh\n',
      src: 's\n',
      copy: 's\n',
    });
  });

  it('keeps modes that the patch does not name', async () => {
    put('run', 'a\n');
    chmodSync(join(bench.root, 'run'), 0o750);
    await patch('--- a/run', '+++ b/run', '@@ -1 +1 @@', '-a', '+b');
    expect(statSync(join(bench.root, 'run')).mode & 0o777).toBe(0o750);
  });

  it('changes one file in two parts of a patch', async () => {
    put('a', 'one\ntwo\n');
    await patch(
      '--- a/a',
      '+++ b/a',
      '@@ -1 +1 @@',
      '-one',
      '+1',
      '--- a/a',
      '+++ b/a',
      '@@ -2 +2 @@',
      '-two',
      '+2',
    );
    expect(bytesOf('a')).toBe('1\n2\n');
  });
});

describe('failures change nothing and say why', () => {
  const text = numbered(40).join('\n') + '\n';

  it.each([
    [
      'the nearest look-alike',
      ['--- a/f', '+++ b/f', '@@ -5,3 +5,3 @@', ' line 20', '-line 21 was', '+x', ' line 22'],
      'Hunk 1 of 1 does not fit f: nearest is line 20; at line 21 the patch expects "line 21 was" but the file has "line 21". Nothing was changed.',
    ],
    [
      'nothing alike',
      ['--- a/f', '+++ b/f', '@@ -5 +5 @@', '-foo', '+x'],
      'nothing in the file (40 lines) looks like its lines',
    ],
    [
      'applied already',
      ['--- a/f', '+++ b/f', '@@ -5,2 +5,2 @@', '-line 5 old', '+line 5', ' line 6'],
      'the file has the new lines already',
    ],
    [
      'the wrong order',
      ['--- a/f', '+++ b/f', '@@ -30 +30 @@', '-line 30', '+x', '@@ -5 +5 @@', '-line 5', '+y'],
      'Hunk 2 of 2 does not fit f: its lines are above those of the previous hunk',
    ],
    [
      'the end of the file',
      ['--- a/f', '+++ b/f', '@@ -40,2 +40,1 @@', ' line 40', '-line 41'],
      'at line 41 the patch expects "line 41" but the file ends',
    ],
    [
      'a file that is not there',
      ['--- a/none', '+++ b/none', '@@ -1 +1 @@', '-a', '+b'],
      'none does not exist. Nothing was changed.',
    ],
    [
      'a file that is there',
      ['--- /dev/null', '+++ b/f', '@@ -0,0 +1 @@', '+b'],
      'f exists already. Nothing was changed.',
    ],
    [
      'an unfinished deletion',
      ['--- a/f', '+++ /dev/null', '@@ -1 +0,0 @@', '-line 1'],
      '39 of its lines are not in the patch',
    ],
    [
      'a binary',
      ['diff --git a/i.png b/i.png', 'index 1..2 100644', 'GIT binary patch', 'literal 2'],
      'the binary file i.png',
    ],
    [
      'a link',
      [
        'diff --git a/l b/l',
        'new file mode 120000',
        '--- /dev/null',
        '+++ b/l',
        '@@ -0,0 +1 @@',
        '+/etc',
      ],
      'only plain files can be patched',
    ],
    ['a hunk without a file', ['@@ -1 +1 @@', '-a', '+b'], 'no file is named before it'],
    [
      'a path that leads out',
      ['--- /dev/null', '+++ b/../evil', '@@ -0,0 +1 @@', '+b'],
      '../evil is outside the workspace',
    ],
  ])('%s', async (_, lines, message) => {
    put('f', text);
    const first = ['--- a/f', '+++ b/f', '@@ -2 +2 @@', '-line 2', '+changed'];
    await expect(patch(...lines)).rejects.toThrow(message);
    await expect(
      patch('--- /dev/null', '+++ b/fresh', '@@ -0,0 +1 @@', '+x', ...lines),
    ).rejects.toThrow();
    await expect(patch(...lines, ...first)).rejects.toThrow();
    expect(treeOf(bench.root)).toEqual({ f: text });
    expect(bench.events).toEqual([]);
  });

  it('reports when there is nothing to apply', async () => {
    await expect(patch('hello', 'world')).rejects.toThrow('The patch changes nothing');
  });

  it('leaves everything when a file cannot be written', async () => {
    put('a', 'x\n');
    put('file', 'x\n');
    await expect(
      patch(
        '--- a/a',
        '+++ b/a',
        '@@ -1 +1 @@',
        '-x',
        '+y',
        '--- /dev/null',
        '+++ b/file/below',
        '@@ -0,0 +1 @@',
        '+z',
      ),
    ).rejects.toThrow('file/below');
    expect(treeOf(bench.root)).toEqual({ a: 'x\n', file: 'x\n' });
  });
});

describeRandomDiffs(4);
