import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { charsetOf, decodeText, encodeText } from './charset.js';
import { filesBench, type FilesBench } from './testing/files-bench.js';

let bench: FilesBench;
beforeEach(() => {
  bench = filesBench();
});
afterEach(() => bench.remove());
const put = (path: string, bytes: string) =>
  writeFileSync(join(bench.root, path), Buffer.from(bytes, 'latin1'));
const bytesOf = (path: string) => readFileSync(join(bench.root, path), 'latin1');
const read = async (path: string) => {
  const page = await bench.call('files.read', { path });
  bench.known = new Map([[path, page.version ?? '']]);
  return page;
};
const edit = (path: string, from: number, line: string) =>
  bench.call('files.edit', { path, change: 'REPLACE', from, content: [line] });
const write = (path: string, content: string, more = {}) =>
  bench.call('files.write', { path, content, ...more });

it('windows-1252 has a character for each byte, and back', () => {
  const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  expect(encodeText(decodeText(all, 'windows-1252'), 'windows-1252', 'a').equals(all)).toBe(true);
});

it.each([
  ['plain', 'utf8'],
  ['caf\xc3\xa9', 'utf8'],
  ['caf\xe9', 'windows-1252'],
  ['\x93quoted\x94', 'windows-1252'],
  // Damaged UTF-8: the rest of it is to be shown as it is.
  ['caf\xc3\xa9 \xff', 'utf8'],
])('%j is read as %s', (bytes, charset) => {
  expect(charsetOf(Buffer.from(bytes, 'latin1'))).toBe(charset);
});

describe('a file that is not UTF-8', () => {
  it('is shown in its encoding, keeps it through edits, replacements, patches and writes', async () => {
    put('a.txt', 'caf\xe9\ntwo\n\x93end\x94');
    expect(await read('a.txt')).toMatchObject({
      content: 'café\ntwo\n“end”',
      charset: 'windows-1252',
    });
    await edit('a.txt', 2, 'für 5 €');
    expect(bytesOf('a.txt')).toBe('caf\xe9\nf\xfcr 5 \x80\n\x93end\x94');
    await read('a.txt');
    await bench.call('files.replace-text', { path: 'a.txt', find: '“end”', replace: 'Füße' });
    const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-café\n+thé\n';
    await bench.call('files.patch', { patch });
    expect(bytesOf('a.txt')).toBe('th\xe9\nf\xfcr 5 \x80\nF\xfc\xdfe');
    await read('a.txt');
    expect(await write('a.txt', 'é\n')).toMatchObject({ kept: ['encoding windows-1252'] });
    expect(bytesOf('a.txt')).toBe('\xe9\n');
    expect(bench.codes().at(-1)).toMatchObject({ content: ['é'] });
  });

  it('refuses a character that its encoding does not have, in one sentence', async () => {
    put('a.txt', 'caf\xe9\n');
    await read('a.txt');
    const sentence =
      'a.txt is not UTF-8 but windows-1252, which has no "→": leave it out, or convert the file first. Nothing was changed.';
    const refused = { code: 'invalid_input', message: sentence };
    await expect(edit('a.txt', 1, 'a → b')).rejects.toMatchObject(refused);
    await expect(write('a.txt', 'a → b\n')).rejects.toMatchObject(refused);
    expect(bytesOf('a.txt')).toBe('caf\xe9\n');
    // The user's own bytes, and a model that says so, replace it as UTF-8.
    await write('a.txt', 'a → b\n', { overwrite: true });
    expect(readFileSync(join(bench.root, 'a.txt'), 'utf8')).toBe('a → b\n');
  });

  it('is found by a search with its characters', async () => {
    put('a.txt', 'caf\xe9 needle\n');
    const { matches } = await bench.call('files.search', { pattern: 'needle' });
    expect(matches).toMatchObject([{ text: 'café needle' }]);
  });
});

it('a model that writes a whole file keeps its byte order mark and its line ends', async () => {
  put('win.txt', '\xef\xbb\xbfone\r\ntwo\r\n');
  await read('win.txt');
  expect(await write('win.txt', 'one\n2\n')).toMatchObject({
    kept: ['CR LF line ends', 'byte order mark'],
  });
  expect(bytesOf('win.txt')).toBe('\xef\xbb\xbfone\r\n2\r\n');
  await read('win.txt');
  await write('win.txt', 'one\n2\n', { overwrite: true });
  expect(bytesOf('win.txt')).toBe('one\n2\n');
  put('mixed.txt', 'a\r\nb\n');
  await read('mixed.txt');
  expect(await write('mixed.txt', 'a\nb\nc\n')).not.toHaveProperty('kept');
  // A user's editor knows what it saves.
  put('win.txt', 'one\r\n');
  bench.known = undefined;
  await write('win.txt', 'one\n');
  expect(bytesOf('win.txt')).toBe('one\n');
});

it.each([
  ['utf-16le', '\xff\xfe', (units: Buffer) => units],
  ['utf-16be', '\xfe\xff', (units: Buffer) => units.swap16()],
])('%s is read, edited and written as text, and stays so', async (_, mark, order) => {
  const wide = (text: string) => mark + order(Buffer.from(text, 'utf16le')).toString('latin1');
  put('wide.txt', wide('one\r\nzwölf\r\n'));
  expect(await read('wide.txt')).toMatchObject({
    content: 'one\r\nzwölf\r\n',
    lines: 2,
    form: ['encoding UTF-16', 'CR LF line ends'],
  });
  expect(await edit('wide.txt', 1, '→')).toMatchObject({ lines: 2, now: '1\t→\n2\tzwölf' });
  expect(bytesOf('wide.txt')).toBe(wide('→\r\nzwölf\r\n'));
  await bench.call('files.replace-text', { path: 'wide.txt', find: 'zwölf\n', replace: 'x\ny\n' });
  expect(bytesOf('wide.txt')).toBe(wide('→\r\nx\r\ny\r\n'));
  await read('wide.txt');
  expect(await write('wide.txt', 'new\n')).toMatchObject({
    kept: ['CR LF line ends', 'encoding UTF-16'],
  });
  expect(bytesOf('wide.txt')).toBe(wide('new\r\n'));
});

it('a file that declares its encoding is edited in it, and what it does not have is refused', async () => {
  put('a.py', '# -*- coding: latin-1 -*-\nx = "J\xf6rg"\n');
  expect(await read('a.py')).toMatchObject({ charset: 'iso-8859-1' });
  await expect(edit('a.py', 2, 'x = "Jörg €"')).rejects.toThrow(
    'a.py is not UTF-8 but iso-8859-1, which has no "€"',
  );
  await edit('a.py', 2, 'x = "Jürg"');
  expect(bytesOf('a.py')).toBe('# -*- coding: latin-1 -*-\nx = "J\xfcrg"\n');
});

it('Shift-JIS is read and edited in Shift-JIS', async () => {
  const line = '\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd\n';
  put('a.txt', `${line}x\n`);
  expect(await read('a.txt')).toMatchObject({ charset: 'shift_jis', content: 'こんにちは\nx\n' });
  await edit('a.txt', 2, 'ー日本');
  expect(bytesOf('a.txt')).toBe(`${line}\x81\x5b\x93\xfa\x96\x7b\n`);
});

describe('text in Shift-JIS', () => {
  const replace = (find: string, text: string, more = {}) =>
    bench.call('files.replace-text', { path: 'a.txt', find, replace: text, ...more });

  it('is replaced only where its characters begin, not within others', async () => {
    // ア is 83 41, and 41 is A.
    const kana = '\x83\x41 = 1\n';
    put('a.txt', `${kana}A = 1\n${kana}`);
    expect(await replace('A = 1', 'A = 2')).toMatchObject({
      replaced: 1,
      hunks: [{ at: 2, removed: 1, added: 1 }],
    });
    expect(bytesOf('a.txt')).toBe(`${kana}A = 2\n${kana}`);
    await expect(replace('B', 'C')).rejects.toThrow('does not occur');
    expect(await replace('ア = 1', 'イ = 1', { all: true })).toMatchObject({ replaced: 2 });
    expect(bytesOf('a.txt')).toBe('\x83\x43 = 1\nA = 2\n\x83\x43 = 1\n');
  });

  it('is told apart in runs of bytes that may be first and second ones', async () => {
    // 亜 is 88 9F. Two of them contain 9F 88, which is another character.
    const kana = '\x82\xb1\x82\xf1'.repeat(3);
    put('a.txt', `${kana}\x88\x9f\x88\x9f\x88\x9f\n`);
    await expect(replace(decodeText(Buffer.from([0x9f, 0x88]), 'shift_jis'), 'x')).rejects.toThrow(
      'does not occur',
    );
    expect(await replace('亜', 'x', { count: 3 })).toMatchObject({ replaced: 3 });
    expect(bytesOf('a.txt')).toBe(`${kana}xxx\n`);
  });
});
