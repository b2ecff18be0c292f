import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeWhole, writeWholeSync } from './write-whole.js';

describe.each([
  ['writeWhole', writeWhole],
  ['writeWholeSync', async (path: string, content: string) => writeWholeSync(path, content)],
])('%s', (_, write) => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'belay-whole-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('replaces a file that only its user can read', async () => {
    const path = join(folder, 'new/file');
    await write(path, 'before');
    await write(path, 'after');
    expect(readFileSync(path, 'utf8')).toBe('after');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'new'))).toEqual(['file']);
  });

  it('leaves nothing of what cannot be stored', async () => {
    const path = join(folder, 'taken');
    mkdirSync(join(path, 'by a folder'), { recursive: true });
    await expect(write(path, 'text')).rejects.toMatchObject({ code: 'EISDIR' });
    expect(readdirSync(folder)).toEqual(['taken']);
  });
});
