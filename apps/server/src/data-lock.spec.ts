import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockData } from './data-lock.js';

describe('the lock of the data folder', () => {
  it('refuses a second server with a sentence, and is free after the first', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'belay-lock-'));
    const unlock = lockData(folder);
    expect(() => lockData(folder)).toThrow(`Another Belay server is using ${folder}`);
    unlock();
    lockData(folder)();
    await rm(folder, { recursive: true, force: true });
  });

  it('is shared by servers that share their database, and by no other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'belay-lock-'));
    const unlock = [1, 2].map(() => lockData(folder, { isShared: true }));
    expect(() => lockData(folder)).toThrow(`Another Belay server is using ${folder}`);
    for (const one of unlock) one();
    const alone = lockData(folder);
    expect(() => lockData(folder, { isShared: true })).toThrow('Another Belay server');
    alone();
    await rm(folder, { recursive: true, force: true });
  });

  it('refuses a folder that cannot be one with a sentence', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'belay-lock-'));
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect(() => lockData(file)).toThrow(
      /^The data folder .*file cannot be written \(EEXIST.*set BELAY_DATA to another folder\.$/,
    );
    await rm(folder, { recursive: true, force: true });
  });
});
