import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBench, type FilesBench } from './testing/files-bench.js';

let bench: FilesBench;
beforeEach(() => {
  bench = filesBench();
});
afterEach(() => bench.remove());

const bytesOf = (name: string) => readFileSync(join(bench.root, name), 'latin1');
const put = (name: string, text: string) => writeFileSync(join(bench.root, name), text, 'latin1');

describe('replacing text', () => {
  it('replaces exactly as often as stated', async () => {
    put('f', 'aa b aa\n');
    expect(
      await bench.call('files.replace-text', { path: 'f', find: 'aa', replace: '$&', count: 2 }),
    ).toMatchObject({ replaced: 2, size: 8, lines: 1 });
    expect(bytesOf('f')).toBe('$& b $&\n');
  });

  it('reports where the text is when the count is wrong', async () => {
    put('f', 'x\ny\nx\n');
    await expect(
      bench.call('files.replace-text', { path: 'f', find: 'x', replace: 'z' }),
    ).rejects.toThrow('The text occurs 2 times in f, not once: at lines 1, 3.');
    await expect(
      bench.call('files.replace-text', { path: 'f', find: 'q', replace: 'z' }),
    ).rejects.toThrow('does not occur in f');
    expect(bytesOf('f')).toBe('x\ny\nx\n');
  });

  it('shows the lines that are nearest to a text that is not there', async () => {
    put('f', 'one\nfunction add(a, b) {\n  return a + b;\n}\nlast\n');
    const find = 'function add(a, b) {\n  return a+b;\n}';
    await expect(
      bench.call('files.replace-text', { path: 'f', find, replace: 'x' }),
    ).rejects.toMatchObject({
      message:
        'The text does not occur in f. Nothing was changed. The nearest text is at lines 2–4; copy what you mean from here:\n1\tone\n2\tfunction add(a, b) {\n3\t  return a + b;\n4\t}\n5\tlast',
      details: { lines: [{ from: 1, to: 5 }] },
    });
    await expect(
      bench.call('files.replace-text', { path: 'f', find: 'retrun a + b', replace: 'x' }),
    ).rejects.toThrow('The nearest text is at line 3');
    await expect(
      bench.call('files.replace-text', { path: 'f', find: 'qqqq wwww', replace: 'x' }),
    ).rejects.toThrow(/Nothing was changed\.$/);
    await expect(
      bench.call('files.replace-text', { path: 'f', find: 'last', replace: 'last' }),
    ).rejects.toThrow('`find` and `replace` are the same text');
  });

  it('gives the places of the changed lines, several in one line once', async () => {
    put('f', 'a\nx x\nb\nc x\nx');
    const all = { path: 'f', find: 'x', replace: 'y\ny', all: true };
    const { hunks, now } = await bench.call('files.replace-text', all);
    expect(hunks).toEqual([
      { at: 2, removed: 1, added: 3 },
      { at: 4, removed: 1, added: 2 },
      { at: 5, removed: 1, added: 2 },
    ]);
    expect(now).toBe('1\ta\n2\ty\n3\ty y\n4\ty\n5\tb\n6\tc y\n7\ty\n8\ty\n9\ty');
  });

  it('finds what differs in line ends, and names what differs in spaces', async () => {
    put('f', 'if (a) {\r\n\treturn;\r\n}\r\n');
    await expect(
      bench.call('files.replace-text', { path: 'f', find: 'if (a) {\n  return;', replace: '' }),
    ).rejects.toThrow(
      'Lines 1–2 differ only in whitespace; copy what you mean from here:\n1\tif (a) {',
    );
    await bench.call('files.replace-text', { path: 'f', find: '{\n\treturn;\n}', replace: '{\n}' });
    expect(bytesOf('f')).toBe('if (a) {\r\n}\r\n');
  });
});
