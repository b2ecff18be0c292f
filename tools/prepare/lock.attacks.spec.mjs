import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder, withLock } from './lock.mjs';

describe('attacks: the lock between commands', () => {
  const uid = process.getuid();
  const name = `attack-${process.pid}`;
  const planted = join(tmpdir(), `belay-${uid}-${name}.lock`);
  let folder;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'belay-lock-'))));
  afterEach(() => {
    for (const path of [planted, folder]) rmSync(path, { recursive: true, force: true });
    rmSync(join(lockFolder(), `belay-${uid}-${name}.lock`), { force: true });
  });

  it('is not delayed by a lock that any user can create in the temporary folder', async () => {
    // The process with number 1 never ends.
    writeFileSync(planted, '1');
    expect(await withLock(name, async () => 'done')).toBe('done');
  });

  // Only root can change the owner of a folder.
  (uid === 0 ? it : it.skip)('is not taken in the folder of another user', async () => {
    const { chownSync, statSync } = await import('node:fs');
    const theirs = join(folder, 'theirs');
    mkdirSync(theirs);
    chownSync(theirs, 65_534, 65_534);
    await expect(withLock(name, async () => 'done', { folder: theirs })).rejects.toThrow(
      /belongs to another user/,
    );
    const own = join(folder, 'own');
    expect(await withLock(name, async () => 'done', { folder: own })).toBe('done');
    expect(statSync(own).mode & 0o777).toBe(0o700);
  });
});
