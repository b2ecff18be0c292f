import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBench, type FilesBench } from '../testing/files-bench.js';

let bench: FilesBench;
beforeEach(() => {
  bench = filesBench();
});
afterEach(() => bench.remove());
const put = (path: string, text: string) => writeFileSync(join(bench.root, path), text);
const text = (path: string) => readFileSync(join(bench.root, path), 'utf8');
const apply = (...lines: string[]) => bench.call('files.patch', { patch: lines.join('\n') });

describe('patches in the form of codex', () => {
  it('add, update, move and delete files', async () => {
    put('a.py', 'import os\n\ndef greet():\n    print("Hi")\n\ndef bye():\n    print("Bye")\n');
    put('old.txt', 'one\ntwo\nthree');
    const { files } = await apply(
      "apply_patch <<'EOF'",
      '*** Begin Patch',
      '*** Add File: new/hello.txt',
      '+Hello',
      '+',
      '+world',
      '*** Update File: a.py',
      '*** Move to: src/b.py',
      '@@ def bye():',
      '-    print("Bye")',
      '+    print("Goodbye")',
      '*** Delete File: old.txt',
      '*** End Patch',
      'EOF',
    );
    expect(files).toMatchObject([
      { path: 'new/hello.txt', added: 3, removed: 0 },
      { path: 'src/b.py', added: 1, removed: 1 },
      { path: 'old.txt', added: 0, removed: 3, version: null },
    ]);
    expect(text('new/hello.txt')).toBe('Hello\n\nworld\n');
    expect(text('src/b.py')).toBe(
      'import os\n\ndef greet():\n    print("Hi")\n\ndef bye():\n    print("Goodbye")\n',
    );
    expect(['a.py', 'old.txt'].map((path) => existsSync(join(bench.root, path)))).toEqual([
      false,
      false,
    ]);
    expect(bench.codes()).toContainEqual(
      expect.objectContaining({ path: 'old.txt', change: 'DELETE', removed: 3 }),
    );
  });

  it('find hunks by their lines, in order, inside what their anchors name', async () => {
    const body = ['  set() {', '    return 1;', '  }'];
    put('x.js', ['class A {', ...body, '}', 'class B {', ...body, '}', 'end', ''].join('\n'));
    await apply(
      '*** Begin Patch',
      '*** Update File: x.js',
      '@@ class B {',
      '@@   set() {',
      '-    return 1;',
      '+    return 2;',
      '@@',
      ' }',
      '-end',
      '+the end',
      '*** End of File',
      '*** End Patch',
    );
    expect(text('x.js')).toBe(
      [
        'class A {',
        ...body,
        '}',
        'class B {',
        '  set() {',
        '    return 2;',
        '  }',
        '}',
        'the end',
        '',
      ].join('\n'),
    );
    const lost = apply('*** Update File: x.js', '@@ class C {', '-end', '+x');
    await expect(lost).rejects.toThrow(
      'no line below line 0 is "class C {", the line given after @@',
    );
    const ambiguous = apply('*** Update File: x.js', '@@', '-  set() {', '+  get() {');
    await expect(ambiguous).rejects.toThrow(
      'its lines occur at lines 2, 7: give more lines around them',
    );
  });

  it('keep line ends, also where lines are only added', async () => {
    put('win.txt', 'one\r\ntwo\r\nthree');
    await apply('*** Update File: win.txt', '@@ one', '-two', '+2', '+2½', '@@', '+four');
    expect(text('win.txt')).toBe('one\r\n2\r\n2½\r\nthree\r\nfour');
  });

  it('are refused as a whole, with the line that is wrong', async () => {
    put('a', 'one\n');
    await expect(
      apply('*** Begin Patch', '*** Update File: a', '@@', '-one', '+1', 'two', '*** End Patch'),
    ).rejects.toThrow('Line 6 of the patch does not begin with a space, + or -: two');
    await expect(
      apply('*** Begin Patch', '*** Add File: b', 'no plus', '*** End Patch'),
    ).rejects.toThrow('Line 3 of the patch belongs to no file: no plus.');
    await expect(apply('*** Update File: none', '@@', '-a', '+b')).rejects.toThrow(
      'none does not exist.',
    );
    await expect(apply('*** Add File: a', '+x')).rejects.toThrow('a exists already.');
    expect(text('a')).toBe('one\n');
  });
});

it('a unified diff may have bare hunks, too', async () => {
  put('a', 'one\ntwo\nthree\nfour\n');
  await apply(
    '--- a/a',
    '+++ b/a',
    '@@',
    ' one',
    '-two',
    '+2',
    '',
    '@@ -4 +4 @@',
    '-four',
    '+4',
    '',
  );
  expect(text('a')).toBe('one\n2\nthree\n4\n');
  await expect(apply('@@', '-one')).rejects.toThrow('no file is named before it');
});
