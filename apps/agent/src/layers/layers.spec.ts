import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pack, type Headers } from 'tar-stream';
import { mountPoints } from './mount-points.js';
import { unpackLayer } from './unpack-layer.js';
import { changeTimesOf, layerSince } from './write-layer.js';

let folder: string;
let image: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belay-layers-'));
  image = join(folder, 'image');
  mkdirSync(join(image, 'usr/bin'), { recursive: true });
  mkdirSync(join(image, 'old/deep'), { recursive: true });
  mkdirSync(join(image, 'mount'));
  for (const path of ['usr/bin/tool', 'usr/gone', 'old/deep/file', 'turns', 'mount/file'])
    writeFileSync(join(image, path), `first ${path}`);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a layer', () => {
  it('makes of an equal image what was made of the first one, and nothing else', async () => {
    const copy = join(folder, 'copy');
    cpSync(image, copy, { recursive: true });
    const own = { root: image, mounted: new Set([join(image, 'mount')]) };
    const before = changeTimesOf(own);
    writeFileSync(join(image, 'usr/bin/tool'), 'second');
    chmodSync(join(image, 'usr/bin/tool'), 0o4755);
    linkSync(join(image, 'usr/bin/tool'), join(image, 'usr/bin/twin'));
    writeFileSync(join(image, 'usr/new ü'.padEnd(120, '-')), '');
    utimesSync(join(image, 'usr/bin/tool'), 1e9, 1e9);
    rmSync(join(image, 'usr/gone'));
    rmSync(join(image, 'old'), { recursive: true });
    rmSync(join(image, 'turns'));
    mkdirSync(join(image, 'turns/into/folders'), { recursive: true });
    symlinkSync('/etc/passwd', join(image, 'link'));
    writeFileSync(join(image, 'mount/file'), 'not of the image');

    const target = { root: copy, mounted: new Set([join(copy, 'mount')]), maxBytes: 1e6 };
    await unpackLayer(layerSince(before, { ...own, maxBytes: 1e6 }), target);

    expect(readFileSync(join(copy, 'usr/bin/twin'), 'utf8')).toBe('second');
    const [tool, twin] = ['tool', 'twin'].map((name) => statSync(join(copy, 'usr/bin', name)));
    expect(tool).toMatchObject({ ino: twin?.ino, mtimeMs: 1e12, uid: statSync(image).uid });
    expect((tool?.mode ?? 0) & 0o7777).toBe(0o4755);
    expect(existsSync(join(copy, 'usr/new ü'.padEnd(120, '-')))).toBe(true);
    expect(existsSync(join(copy, 'usr/gone')) || existsSync(join(copy, 'old'))).toBe(false);
    expect(statSync(join(copy, 'turns/into/folders')).isDirectory()).toBe(true);
    expect(readlinkSync(join(copy, 'link'))).toBe('/etc/passwd');
    expect(readFileSync(join(copy, 'mount/file'), 'utf8')).toBe('first mount/file');
  });

  it('has what was changed alone', async () => {
    const own = { root: image, mounted: new Set<string>() };
    const before = changeTimesOf(own);
    writeFileSync(join(image, 'usr/gone'), 'is there');
    const copy = join(folder, 'copy');
    mkdirSync(copy);
    await unpackLayer(layerSince(before, { ...own, maxBytes: 1e6 }), {
      ...own,
      root: copy,
      maxBytes: 1e6,
    });
    expect([...changeTimesOf({ ...own, root: copy }).keys()]).toEqual(['usr', 'usr/gone']);
  });

  it('is not made of more than it may have, also where files have holes', async () => {
    const own = { root: image, mounted: new Set<string>(), maxBytes: 2 ** 20 };
    const before = changeTimesOf(own);
    truncateSync(join(image, 'turns'), 2 ** 20);
    await buffer(layerSince(before, own));
    truncateSync(join(image, 'turns'), 2 ** 20 + 1);
    await expect(buffer(layerSince(before, own))).rejects.toThrow('more than 1 MiB');
  });

  it('leaves out what is mounted', () => {
    expect(mountPoints().has('/proc')).toBe(true);
    expect(mountPoints().has('/etc')).toBe(false);
  });
});

describe('attacks: a layer', () => {
  type Entry = Headers & { content?: string };
  const unpack = (entries: Entry[], maxBytes = 1e6) => {
    const tar = pack();
    for (const { content = '', ...header } of entries) tar.entry(header, content);
    tar.finalize();
    const mounted = new Set(['mount', 'usr/mount'].map((at) => join(image, at)));
    return unpackLayer(tar, { root: image, mounted, maxBytes });
  };
  const outside = () => join(folder, 'outside');
  beforeEach(() => {
    mkdirSync(outside());
    mkdirSync(join(image, 'usr/mount'));
    writeFileSync(join(outside(), 'file'), 'untouched');
    symlinkSync(outside(), join(image, 'way'));
  });

  it.each<[string, Entry[], RegExp]>([
    [
      'a path above the image',
      [{ name: '../outside/file', content: 'x' }],
      /not a path of an image/,
    ],
    ['an absolute path', [{ name: '/usr/new', content: 'x' }], /not a path of an image/],
    ['the removal of all that is above the image', [{ name: '.wh...' }], /not a path of an image/],
    ['the removal of the image', [{ name: '.wh.' }], /not a path of an image/],
    ['a way through a link of the image', [{ name: 'way/file', content: 'x' }], /not a folder/],
    [
      'a way through a link of its own, in the place of a folder',
      [
        { name: 'old/deep/file', content: 'x' },
        { name: '.wh.old' },
        { name: 'old', type: 'symlink', linkname: 'way' },
        { name: 'old/file', content: 'x' },
      ],
      /not a folder/,
    ],
    ['the removal of what is behind a link', [{ name: 'way/.wh.file' }], /not a folder/],
    ['a hard link to it', [{ name: 'a', type: 'link', linkname: 'way/file' }], /not a folder/],
    [
      'a hard link to what is mounted',
      [{ name: 'a', type: 'link', linkname: 'mount/file' }],
      /is mounted/,
    ],
    [
      'the removal of a folder in which something is mounted',
      [{ name: 'usr', type: 'symlink', linkname: 'old' }],
      /is mounted/,
    ],
  ])('is refused for %s', async (_, entries, why) => {
    await expect(unpack(entries)).rejects.toThrow(why);
    expect(readFileSync(join(outside(), 'file'), 'utf8')).toBe('untouched');
    expect(readFileSync(join(image, 'mount/file'), 'utf8')).toBe('first mount/file');
    await unpack([{ name: 'usr/honest', content: 'x' }]);
  });

  it('changes nothing of what is mounted over it', async () => {
    await unpack([
      { name: 'mount', type: 'symlink', linkname: 'usr' },
      { name: 'mount/file', content: 'x' },
      { name: 'mount/.wh.file' },
      { name: '.wh.mount' },
      { name: 'usr/honest', content: 'x' },
    ]);
    expect(readFileSync(join(image, 'mount/file'), 'utf8')).toBe('first mount/file');
    expect(existsSync(join(image, 'usr/honest'))).toBe(true);
  });

  it('is refused beyond its size', async () => {
    const entries = ['a', 'b'].map((name) => ({ name, content: 'x'.repeat(600) }));
    await expect(unpack(entries, 1_000)).rejects.toThrow('more than 1000 bytes');
    await unpack(entries, 1_200);
  });

  it('makes no devices', async () => {
    await unpack([{ name: 'disk', type: 'block-device' }, { name: 'after' }]);
    expect(existsSync(join(image, 'disk'))).toBe(false);
    expect(lstatSync(join(image, 'after')).isFile()).toBe(true);
  });
});
