import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { aptInstall } from './debian.mjs';

/** An apt-get that refuses to run beside another one, as the real one does, and logs what it does. */
const aptGet = `#!/bin/bash
cd "$(dirname "$0")"
for last; do :; done
if ! mkdir lock 2>> /dev/null; then
  echo refused >> log
  echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)" >&2
  exit 100
fi
echo "$1 $last" >> log
rmdir lock
[ "$last" != broken ] || { echo "E: Unable to locate package broken" >&2; exit 100; }
`;

describe('installing packages of Debian', () => {
  const { PATH } = process.env;
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-apt-'));
    writeFileSync(join(folder, 'apt-get'), aptGet);
    chmodSync(join(folder, 'apt-get'), 0o755);
    process.env.PATH = `${folder}:${PATH}`;
  });
  afterEach(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });

  const log = () => readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');

  it('waits for an apt that is at work', async () => {
    const lock = join(folder, 'lock');
    mkdirSync(lock);
    const installed = aptInstall('one');
    await until('apt is refused', () => existsSync(join(folder, 'log')));
    rmSync(lock, { recursive: true });
    await installed;
    expect(log()).toContain('refused');
    expect(log().filter((line) => line !== 'refused')).toEqual(['update -qq', 'install one']);
  });

  it('fails with the words of apt when a package does not exist', async () => {
    await expect(aptInstall('broken')).rejects.toThrow('Unable to locate package broken');
    expect(log()).toEqual(['update -qq', 'install broken']);
  });
});
