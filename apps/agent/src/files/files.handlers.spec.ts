import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { filesBench, type FilesBench } from './testing/files-bench.js';
import { shownFile } from '../known-file.js';
import { versionOf } from './version-of.js';

let bench: FilesBench;
beforeEach(() => {
  bench = filesBench();
});
afterEach(() => bench.remove());

const bytesOf = (name: string) => readFileSync(join(bench.root, name), 'latin1');
const put = (name: string, text: string) => writeFileSync(join(bench.root, name), text, 'latin1');

describe('reading', () => {
  it('reads a range of lines and reports how many there are', async () => {
    put('a.txt', 'one\ntwo\r\nthree');
    expect(await bench.call('files.read', { path: 'a.txt', from: 2, to: 2 })).toEqual({
      path: 'a.txt',
      content: 'two\r\n',
      from: 2,
      to: 2,
      lines: 3,
      size: 14,
      next: null,
      version: '6017718659ffda4f',
      form: ['mixed line ends', 'no line end after the last line'],
    });
    expect(await bench.call('files.read', { path: 'a.txt', from: 2 })).toMatchObject({
      content: 'two\r\nthree',
      to: 3,
    });
    await expect(bench.call('files.read', { path: 'a.txt', from: 4 })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'a.txt has 3 lines: there is no line 4.',
    });
  });

  it('reads an empty file', async () => {
    put('empty', '');
    expect(await bench.call('files.read', { path: 'empty' })).toMatchObject({
      content: '',
      from: 1,
      to: 0,
      lines: 0,
      size: 0,
      next: null,
    });
  });

  it('pages through a long file without losing or doubling a byte', async () => {
    const text = Array.from({ length: 60_000 }, (_, n) => `line ${n} é`).join('\n');
    writeFileSync(join(bench.root, 'long.txt'), text);
    let from: number | null = 1;
    let read = '';
    let pages = 0;
    while (from !== null) {
      const page: { content: string; next: number | null } = await bench.call('files.read', {
        path: 'long.txt',
        from,
      });
      expect(Buffer.byteLength(page.content)).toBeLessThanOrEqual(40_000);
      read += page.content;
      from = page.next;
      pages++;
    }
    expect(read === text).toBe(true);
    expect(pages).toBeGreaterThan(3);
  });

  it('cuts long lines for a model, and names them outside of the text', async () => {
    put('min.js', `a\n${'x'.repeat(300_000)}\nb\n`);
    expect(await bench.call('files.read', { path: 'min.js', from: 2 })).toMatchObject({
      content: `${'x'.repeat(2_000)} [cut]\nb\n`,
      to: 3,
      lines: 3,
      next: null,
      cut: [{ line: 2, bytes: 300_001 }],
    });
    writeFileSync(join(bench.root, 'wide.txt'), 'é'.repeat(2_000));
    const { content } = await bench.call('files.read', { path: 'wide.txt' });
    expect(content).toBe(`${'é'.repeat(1_000)} [cut]\n`);
    // An editor needs the whole line to save it.
    bench.source = 'user';
    const whole = await bench.call('files.read', { path: 'wide.txt' });
    expect(whole).toMatchObject({ content: 'é'.repeat(2_000) });
    expect(whole).not.toHaveProperty('cut');
  });

  it('names what the text of a file does not show', async () => {
    const formOf = async (text: string) => {
      put('f', text);
      return (await bench.call('files.read', { path: 'f' })).form;
    };
    expect(await formOf('a\nb\n')).toBeUndefined();
    expect(await formOf('')).toBeUndefined();
    expect(await formOf('\xef\xbb\xbfa\r\nb\r\n')).toEqual(['byte order mark', 'CR LF line ends']);
    expect(await formOf('a\r\nb')).toEqual(['CR LF line ends', 'no line end after the last line']);
    expect(await formOf('a\nb')).toEqual(['no line end after the last line']);
  });

  it('refuses binaries as text and gives their bytes page by page', async () => {
    const bytes = Buffer.alloc(400_000, 7);
    bytes[3] = 0;
    writeFileSync(join(bench.root, 'logo.png'), bytes);
    await expect(bench.call('files.read', { path: 'logo.png' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'logo.png is a binary file: read or write it with encoding base64.',
    });
    const parts: Buffer[] = [];
    let offset: number | null = 0;
    while (offset !== null) {
      const page: { content: string; next: number | null } = await bench.call('files.read', {
        path: 'logo.png',
        encoding: 'base64',
        offset,
        limit: 200_000,
      });
      parts.push(Buffer.from(page.content, 'base64'));
      offset = page.next;
    }
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  });

  it('names what does not exist', async () => {
    await expect(bench.call('files.read', { path: 'src/none.js' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'src/none.js does not exist.',
    });
    await expect(bench.call('files.read', { path: '.' })).rejects.toThrow(
      '. is a folder, not a file.',
    );
  });
});

describe('writing', () => {
  it('makes folders, reports that it created, and keeps what it is given byte for byte', async () => {
    const content = '\ufeffé\r\nb\rc\n\nlast';
    const first = await bench.call('files.write', { path: 'deep/er/a.txt', content });
    expect(first).toEqual({
      path: 'deep/er/a.txt',
      size: Buffer.byteLength(content),
      lines: 4,
      created: true,
      version: '5a90e4e293fc42cc',
    });
    expect(readFileSync(join(bench.root, 'deep/er/a.txt'), 'utf8')).toBe(content);
    const read = await bench.call('files.read', { path: 'deep/er/a.txt' });
    expect(read.content).toBe(content);
    expect((await bench.call('files.write', { path: 'deep/er/a.txt', content: 'x' })).created).toBe(
      false,
    );
  });

  it('writes only over the version that it is given, and names the current one in the refusal', async () => {
    const { version } = await bench.call('files.write', { path: 'a.txt', content: 'one\n' });
    const write = (content: string, over: string | null) =>
      bench.call('files.write', { path: 'a.txt', content, version: over });
    const theirs = await write('theirs\n', version);
    const refused = {
      code: 'conflict',
      message: expect.stringContaining('a.txt changed since it was read'),
      details: { path: 'a.txt', version: theirs.version, shown: false },
    };
    await expect(write('mine\n', version)).rejects.toMatchObject(refused);
    await expect(write('mine\n', null)).rejects.toThrow('a.txt exists already');
    expect(bytesOf('a.txt')).toBe('theirs\n');
    for (const encoding of ['utf8', 'base64'])
      expect(await bench.call('files.read', { path: 'a.txt', encoding })).toMatchObject({
        version: theirs.version,
      });
    await write('mine\n', theirs.version);
    expect(bytesOf('a.txt')).toBe('mine\n');
    await bench.call('files.remove', { path: 'a.txt' });
    await expect(write('mine\n', theirs.version)).rejects.toMatchObject({
      details: { version: null },
    });
    await write('mine\n', null);
  });

  it('keeps the mode, and sets the right to execute when asked', async () => {
    put('run.sh', 'a');
    chmodSync(join(bench.root, 'run.sh'), 0o640);
    await bench.call('files.write', { path: 'run.sh', content: 'b' });
    expect(statSync(join(bench.root, 'run.sh')).mode & 0o777).toBe(0o640);
    await bench.call('files.write', { path: 'run.sh', content: 'c', executable: true });
    expect(statSync(join(bench.root, 'run.sh')).mode & 0o777).toBe(0o750);
    await bench.call('files.edit', { path: 'run.sh', change: 'REPLACE', from: 1, content: ['d'] });
    expect(statSync(join(bench.root, 'run.sh')).mode & 0o777).toBe(0o750);
    await bench.call('files.write', { path: 'new.sh', content: '', executable: true });
    expect(statSync(join(bench.root, 'new.sh')).mode & 0o111).toBe(0o111);
  });

  it('writes bytes, and refuses what is not base64', async () => {
    await bench.call('files.write', { path: 'b.bin', content: 'AAEC/w==', encoding: 'base64' });
    expect(bytesOf('b.bin')).toBe('\x00\x01\x02\xff');
    expect(bench.codes()).toMatchObject([{ path: 'b.bin', line: 0, content: [] }]);
    await expect(
      bench.call('files.write', { path: 'b.bin', content: 'no!', encoding: 'base64' }),
    ).rejects.toThrow('not base64');
    expect(bytesOf('b.bin')).toBe('\x00\x01\x02\xff');
  });

  it('follows a link inside the workspace and keeps it; another hard link keeps the old bytes', async () => {
    mkdirSync(join(bench.root, 'real'));
    put('real/a.txt', 'old');
    linkSync(join(bench.root, 'real/a.txt'), join(bench.root, 'hard.txt'));
    symlinkSync('real/a.txt', join(bench.root, 'soft.txt'));
    const result = await bench.call('files.write', { path: 'soft.txt', content: 'new' });
    expect(result.path).toBe('real/a.txt');
    expect(bytesOf('real/a.txt')).toBe('new');
    expect(readlinkSync(join(bench.root, 'soft.txt'))).toBe('real/a.txt');
    expect(bytesOf('hard.txt')).toBe('old');
  });

  it('leaves no unfinished files behind', async () => {
    mkdirSync(join(bench.root, 'folder'));
    await expect(bench.call('files.write', { path: 'folder', content: 'x' })).rejects.toThrow(
      'folder is a folder, not a file.',
    );
    const { entries } = await bench.call('files.list', { hidden: true });
    expect(entries).toEqual([{ path: 'folder', kind: 'folder', size: 0 }]);
  });

  it('does not write U+FFFD over bytes that are not UTF-8', async () => {
    put('latin.txt', 'caf\xe9\nb\n');
    await expect(
      bench.call('files.write', { path: 'latin.txt', content: 'caf\ufffd\nc\n' }),
    ).rejects.toThrow('U+FFFD');
    await bench.call('files.edit', {
      path: 'latin.txt',
      change: 'REPLACE',
      from: 2,
      content: ['ü'],
    });
    expect(bytesOf('latin.txt')).toBe('caf\xe9\n\xfc\n');
  });

  it('runs changes of one file one after the other', async () => {
    put('count.txt', '0\n');
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        bench.call('files.edit', {
          path: 'count.txt',
          change: 'INSERT',
          from: 1,
          content: [`${n}`],
        }),
      ),
    );
    expect(bytesOf('count.txt').split('\n')).toHaveLength(32);
  });
});

describe('editing lines', () => {
  const edit = (input: object) => bench.call('files.edit', { path: 'f', ...input });

  it.each([
    ['a\nb\nc\n', { change: 'INSERT', from: 2, content: ['x', 'y'] }, 'a\nx\ny\nb\nc\n'],
    ['a\nb\n', { change: 'INSERT', from: 3, content: ['x'] }, 'a\nb\nx\n'],
    ['a\nb', { change: 'INSERT', from: 3, content: ['x'] }, 'a\nb\nx'],
    ['', { change: 'INSERT', from: 1, content: ['x'] }, 'x\n'],
    ['a\r\nb\r\n', { change: 'INSERT', from: 2, content: ['x'] }, 'a\r\nx\r\nb\r\n'],
    ['a\r\nb', { change: 'INSERT', from: 3, content: ['x'] }, 'a\r\nb\r\nx'],
    ['a\r\nb\nc\n', { change: 'REPLACE', from: 2, content: ['x'] }, 'a\r\nx\nc\n'],
    ['a\r\nb\nc\n', { change: 'REPLACE', from: 1, content: ['x'] }, 'x\r\nb\nc\n'],
    ['a\nb\nc', { change: 'REPLACE', from: 2, to: 3, content: ['x'] }, 'a\nx'],
    ['a\nb\nc\n', { change: 'DELETE', from: 1, to: 2 }, 'c\n'],
    ['a\nb', { change: 'DELETE', from: 2 }, 'a\n'],
    ['a\n', { change: 'DELETE', from: 1 }, ''],
    ['\xef\xbb\xbfa\nb\n', { change: 'REPLACE', from: 1, content: ['x'] }, '\xef\xbb\xbfx\nb\n'],
    [
      '\xef\xbb\xbfa\nb\n',
      { change: 'REPLACE', from: 1, content: ['\ufeffx'] },
      '\xef\xbb\xbfx\nb\n',
    ],
    ['\xef\xbb\xbfa\n', { change: 'INSERT', from: 1, content: ['x'] }, '\xef\xbb\xbfx\na\n'],
    ['a\n', { change: 'REPLACE', from: 1, content: ['x\ny\n', ''] }, 'x\ny\n\n'],
  ])('%j %j', async (before, change, after) => {
    put('f', before);
    await edit(change);
    expect(bytesOf('f')).toBe(after);
  });

  it.each([
    [
      { change: 'INSERT', from: 4, content: ['x'] },
      'The file has 2 lines: there is no line 4 to change.',
    ],
    [
      { change: 'DELETE', from: 2, to: 3 },
      'The file has 2 lines: there are no lines 2–3 to change.',
    ],
    [
      { change: 'REPLACE', from: 3, content: ['x'] },
      'The file has 2 lines: there is no line 3 to change.',
    ],
    [{ change: 'INSERT', from: 1, content: [] }, 'There is nothing to insert: `content` is empty.'],
  ])('refuses %j', async (change, message) => {
    put('f', 'a\nb\n');
    await expect(edit(change)).rejects.toMatchObject({ code: 'invalid_input', message });
    expect(bytesOf('f')).toBe('a\nb\n');
  });

  it.each([
    ['INSERT', 999, 'The file has 3 lines: there is no line 999 to change.'],
    ['REPLACE', 999, 'The file has 3 lines: there is no line 999 to change.'],
    ['DELETE', 4, 'The file has 3 lines: there is no line 4 to change.'],
    [
      'INSERT',
      4,
      'You have read only lines 1–1 of f as it is now. Nothing was changed. These are its lines now; call again with the numbers that fit:\n1\ta\n2\tb\n3\tc',
    ],
    [
      'REPLACE',
      3,
      'You have read only lines 1–1 of f as it is now. Nothing was changed. These are its lines now; call again with the numbers that fit:\n1\ta\n2\tb\n3\tc',
    ],
  ])('asks a model for no line that is not there: %s at %i', async (change, from, message) => {
    put('f', 'a\nb\nc\n');
    const version = versionOf(Buffer.from('a\nb\nc\n'));
    bench.known = new Map([['f', shownFile(undefined, version, [{ from: 1, to: 1 }])]]);
    await expect(edit({ change, from, content: ['x'] })).rejects.toMatchObject({ message });
    bench.known = new Map();
    const unread = edit({ change, from, content: ['x'] });
    await expect(unread).rejects.toMatchObject({
      message: message.startsWith('The file') ? message : expect.stringContaining('not read f'),
    });
    expect(bytesOf('f')).toBe('a\nb\nc\n');
    bench.known = new Map([['f', shownFile(undefined, version, [{ from: 1, to: 1 }])]]);
    await edit({ change: 'INSERT', from: 2, content: ['x'] });
    expect(bytesOf('f')).toBe('a\nx\nb\nc\n');
  });

  it('tells a model first what changed in a file, then that a line is not there', async () => {
    put('f', 'a\n');
    bench.known = new Map([['f', versionOf(Buffer.from('a\nb\nc\n'))]]);
    await expect(edit({ change: 'DELETE', from: 3 })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('agrees with a naive model over random edits', async () => {
    const random = bench.random(7);
    let model: string[] = [];
    put('f', '');
    for (let step = 0; step < 300; step++) {
      const change = model.length === 0 ? 'INSERT' : random.pick(['INSERT', 'DELETE', 'REPLACE']);
      const from = 1 + random.below(model.length + (change === 'INSERT' ? 1 : 0));
      const to = change === 'INSERT' ? undefined : from + random.below(model.length - from + 1);
      const content = Array.from({ length: 1 + random.below(3) }, () => `v${random.below(99)}`);
      await edit({ change, from, to, content });
      model = model.toSpliced(
        from - 1,
        to === undefined ? 0 : to - from + 1,
        ...(change === 'DELETE' ? [] : content),
      );
      expect(bytesOf('f')).toBe(model.map((line) => `${line}\n`).join(''));
    }
  });
});

describe('code events', () => {
  it('reports the smallest changed region of a whole write', async () => {
    put('f', 'a\nb\nc\nd\n');
    await bench.call('files.write', { path: 'f', content: 'a\nX\nY\nd\n' });
    await bench.call('files.write', { path: 'f', content: 'a\nX\nY\nd\n' });
    await bench.call('files.write', { path: 'f', content: 'a\nd\n' });
    await bench.call('files.write', { path: 'g', content: 'n\n' });
    await bench.call('files.remove', { path: 'g' });
    expect(bench.codes()).toEqual([
      {
        path: 'f',
        line: 2,
        change: 'REPLACE',
        content: ['X', 'Y'],
        removed: 2,
        truncated: false,
        version: versionOf(Buffer.from('a\nX\nY\nd\n')),
      },
      {
        path: 'f',
        line: 2,
        change: 'DELETE',
        content: [],
        removed: 2,
        truncated: false,
        version: versionOf(Buffer.from('a\nd\n')),
      },
      {
        path: 'g',
        line: 1,
        change: 'INSERT',
        content: ['n'],
        removed: 0,
        truncated: false,
        version: versionOf(Buffer.from('n\n')),
      },
      { path: 'g', line: 1, change: 'DELETE', content: [], removed: 1, truncated: false },
    ]);
  });

  it('has the id of the call, and truncates what is too large', async () => {
    await bench.call('files.write', { path: 'f', content: 'x\n'.repeat(5_000) });
    expect(bench.events[0]).toMatchObject({
      id: 'call-1',
      source: 'agent',
      action: 'code',
      message: 'Added 5,000 lines to f at line 1',
    });
    expect(bench.codes()[0]).toMatchObject({ truncated: true });
  });
});

describe('moving, removing, folders', () => {
  it('moves and refuses to replace', async () => {
    put('a', '1');
    put('b', '2');
    await expect(bench.call('files.move', { from: 'a', to: 'b' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(bench.call('files.move', { from: 'c', to: 'd/e' })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(existsSync(join(bench.root, 'd'))).toBe(false);
    expect(await bench.call('files.move', { from: 'a', to: 'd/a' })).toEqual({
      from: 'a',
      to: 'd/a',
    });
    await expect(bench.call('files.move', { from: 'd', to: 'd/x' })).rejects.toThrow(
      'd cannot be moved into itself.',
    );
    await expect(
      bench.call('files.move', { from: './d/', to: `${bench.root}/d/x` }),
    ).rejects.toThrow('cannot be moved into itself');
    await bench.call('files.move', { from: 'd', to: 'dd' });
    await bench.call('files.move', { from: 'dd', to: 'e' });
    expect(bytesOf('e/a')).toBe('1');
  });

  it('removes links, not what they lead to', async () => {
    mkdirSync(join(bench.root, 'd/sub'), { recursive: true });
    put('keep', '1');
    symlinkSync('../keep', join(bench.root, 'd/link'));
    symlinkSync('..', join(bench.root, 'd/sub/up'));
    await expect(bench.call('files.remove', { path: 'd' })).rejects.toThrow(
      'd is a folder that is not empty',
    );
    await bench.call('files.remove', { path: 'd', recursive: true });
    expect(existsSync(join(bench.root, 'd'))).toBe(false);
    expect(bytesOf('keep')).toBe('1');
    await expect(bench.call('files.remove', { path: '.', recursive: true })).rejects.toThrow(
      'The workspace itself',
    );
  });

  it('makes folders once', async () => {
    expect(await bench.call('files.mkdir', { path: 'x/y' })).toEqual({
      path: 'x/y',
      created: true,
    });
    expect(await bench.call('files.mkdir', { path: 'x/y/' })).toEqual({
      path: 'x/y',
      created: false,
    });
    put('f', '');
    await expect(bench.call('files.mkdir', { path: 'f' })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(lstatSync(join(bench.root, 'x/y')).isDirectory()).toBe(true);
  });

  it('stops before a change when the call was cancelled', async () => {
    await expect(
      bench.call('files.write', { path: 'f', content: '' }, AbortSignal.abort()),
    ).rejects.toMatchObject({ code: 'cancelled' });
    expect(existsSync(join(bench.root, 'f'))).toBe(false);
  });
});
