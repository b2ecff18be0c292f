import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { listPaths } from './list-paths.js';
import { packPath, type PackPathOptions } from './pack-path.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-left-')));
  mkdirSync(join(folder, 'a/mount'), { recursive: true });
  writeFileSync(join(folder, 'a/file'), 'content');
  writeFileSync(join(folder, 'a/empty'), '');
  writeFileSync(join(folder, 'a/mount/hidden'), 'x');
  symlinkSync('/etc/passwd', join(folder, 'a/link'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const skipped = (): ReadonlySet<string> => new Set([join(folder, 'a/mount')]);

async function packed(path: string, options: Partial<PackPathOptions> = {}) {
  const found: Record<string, string> = {};
  const reading = extract();
  reading.on('entry', ({ name, type, linkname }, content, taken) => {
    const read = text(content as unknown as Readable).then((bytes) => {
      found[name] = type === 'file' ? bytes : `${type} ${linkname ?? ''}`.trim();
    });
    read.then(() => taken(), taken);
  });
  await pipeline(
    await packPath(join(folder, path), { skipped: new Set<string>(), ...options }),
    reading,
  );
  return found;
}

it('packs a file, a link and a folder, and nothing of mounts or what links lead to', async () => {
  expect(await packed('a/file')).toEqual({ file: 'content' });
  expect(await packed('a/link')).toEqual({ link: 'symlink /etc/passwd' });
  expect(await packed('a', { skipped: skipped() })).toEqual({
    a: 'directory',
    'a/file': 'content',
    'a/empty': '',
    'a/link': 'symlink /etc/passwd',
  });
  await expect(packed('a/none')).rejects.toMatchObject({ code: 'not_found' });
  await expect(packed('a/file/below')).rejects.toMatchObject({ code: 'not_found' });
});

it('leaves out what was not changed since a time', async () => {
  expect(await packed('a', { since: Date.now() + 60_000 })).toEqual({});
});

it('lists all paths, and which were changed since a time', () => {
  const listed = (since?: number): string[] =>
    Buffer.concat([...listPaths(folder, { since, skipped: skipped() })])
      .toString()
      .split('\0')
      .slice(0, -1)
      .map((line) => line.replace(folder, ''))
      .toSorted();
  const paths = ['/a', '/a/empty', '/a/file', '/a/link'];
  expect(listed()).toEqual(paths.map((path) => `=${path}`));
  expect(listed(0)).toEqual(paths.map((path) => `+${path}`));
});
