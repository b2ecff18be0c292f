import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderObjects } from './folder-objects.js';
import { objectStoreCases } from './testing/object-store-cases.js';

describe('objects in a folder', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'belay-objects-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  objectStoreCases(() => Promise.resolve(new FolderObjects(folder)));

  it('are files that only the server’s user can read', async () => {
    await new FolderObjects(folder).put('a/b', Buffer.from('c'));
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a/b')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'a'))).toEqual(['b']);
  });

  it('are not folders, nor what others put there', async () => {
    const objects = new FolderObjects(folder);
    mkdirSync(join(folder, 'a/deep'), { recursive: true });
    for (const name of ['.DS_Store', 'a file', 'ours']) writeFileSync(join(folder, 'a', name), '');
    expect(await objects.find('a/deep')).toBeUndefined();
    const found = [];
    for await (const { key } of objects.list('a')) found.push(key);
    expect(found).toEqual(['a/ours']);
  });
});
