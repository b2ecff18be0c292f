import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptInstall } from './debian.mjs';

describe('installing packages of Debian', () => {
  const { PATH } = process.env;
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-apt-'));
    const log = join(folder, 'log');
    const script = `#!/bin/sh\nfor last; do :; done\necho "$1 $last" >> ${log}\n[ "$last" != broken ] || exit 100\n[ ! -e ${folder}/busy ] || echo "two at once" >> ${log}\n: > ${folder}/busy\nrm ${folder}/busy\n`;
    writeFileSync(join(folder, 'apt-get'), script);
    chmodSync(join(folder, 'apt-get'), 0o755);
    process.env.PATH = `${folder}:${PATH}`;
  });
  afterEach(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });

  it('runs one by one, and continues after a failure', async () => {
    const all = ['one', 'broken', 'two'].map((name) => aptInstall(name));
    const ended = await Promise.allSettled(all);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const lines = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
    const installs = ['one', 'broken', 'two'].flatMap((name) => ['update -qq', `install ${name}`]);
    expect(lines).toEqual(installs);
  });
});
