import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporary } from '../testing/fixtures.js';
import { lockResults, lockResultsSoon } from './lock-results.js';
import { writeInside } from './journal.js';

const { folder, remove } = temporary();
afterAll(remove);

describe('attacks: files of a results folder', () => {
  const out = join(folder, 'out');
  mkdirSync(join(out, 'trials'), { recursive: true });

  it('nothing is written outside of it', () => {
    for (const path of ['../evil', 'trials/../../evil', '../out-2/evil'])
      expect(() => writeInside(out, join(out, path), '')).toThrow('nothing is written there');
    expect(() => writeInside(out, join(folder, 'evil'), '')).toThrow('nothing is written there');
    expect(existsSync(join(folder, 'evil'))).toBe(false);
    writeInside(out, join(out, 'trials/a.1/x'), 'text');
    expect(readFileSync(join(out, 'trials/a.1/x'), 'utf8')).toBe('text');
  });

  it('a name that is too long for this system does not prevent a report', () => {
    for (const name of ['x'.repeat(255), `${'y'.repeat(200)}/`.repeat(25)])
      expect(() => writeInside(out, join(out, 'trials', name), 'text')).not.toThrow();
    writeInside(out, join(out, 'trials/short'), 'text');
    expect(readFileSync(join(out, 'trials/short'), 'utf8')).toBe('text');
  });

  it('links are not followed', () => {
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), join(out, 'trials/b.1'));
    symlinkSync(join(folder, 'elsewhere/target'), join(out, 'trials/link'));
    for (const path of ['trials/b.1/evil', 'trials/link'])
      expect(() => writeInside(out, join(out, path), '')).toThrow(
        'is a link, so nothing is written there. Remove it',
      );
    expect(existsSync(join(folder, 'elsewhere/evil'))).toBe(false);
    writeInside(out, join(out, 'trials/c.1/x'), '');
  });
});

it('a results folder that cannot be made is reported in one sentence', () => {
  writeFileSync(join(folder, 'file'), '');
  for (const path of ['/proc/none/deep', '/dev/null', join(folder, 'file/deep')])
    expect(() => lockResults(path)).toThrow(/^The results folder \S+ cannot be used: .*\.$/);
  expect(() => lockResults(join(folder, 'x'.repeat(300)))).toThrow(/its name is too long/);
  lockResults(join(folder, 'made/deep'))();
});

describe('attacks: the lock of a results folder', () => {
  const out = join(folder, 'locked');

  it('excludes a second process while the first one lives, but not after its kill', async () => {
    mkdirSync(out, { recursive: true });
    const other = spawn('sleep', ['60']);
    const start = () =>
      readFileSync(`/proc/${other.pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];
    writeFileSync(join(out, 'run.lock'), `${other.pid} ${start()}`);
    expect(() => lockResults(out)).toThrow(`Another process (${other.pid}) is working on`);
    await expect(lockResultsSoon(out, 0)).rejects.toThrow('is working on');
    // A resume right after the kill waits for the end of the process.
    const locked = lockResultsSoon(out, 60_000);
    other.kill('SIGKILL');
    const release = await locked;
    release();
    expect(existsSync(join(out, 'run.lock'))).toBe(false);
  });

  it('is not held by a reused process id, an empty file or an invalid one', () => {
    const dead = spawnSync(process.execPath, ['-e', '0']).pid;
    for (const mark of [`${process.ppid} 1`, `${dead} 5`, '', '1', '-1 0', 'x'.repeat(1000)]) {
      writeFileSync(join(out, 'run.lock'), mark);
      lockResults(out)();
    }
    const release = lockResults(out);
    // Positive control: this process is alive.
    expect(() => lockResults(out)).toThrow(`Another process (${process.pid}) is working on`);
    release();
    lockResults(out)();
  });
});
