import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const launcher = join(__dirname, '../bin/belay');

describe('the launcher', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-launcher-'));
    mkdirSync(join(folder, 'package/bin'), { recursive: true });
    cpSync(launcher, join(folder, 'package/bin/belay'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A Node that prints its process id and its arguments. */
  const node = (path: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), '#!/bin/sh\necho "$$ $0 $*"\n');
    chmodSync(join(folder, path), 0o755);
  };
  const run = (command: string) => {
    const PATH = `${join(folder, 'path')}:${process.env['PATH']}`;
    const { pid, stdout } = spawnSync(command, ['run', 'a b'], { encoding: 'utf8', env: { PATH } });
    return stdout.trim().replace(`${pid} `, 'same process ').replaceAll(folder, '');
  };

  it('becomes the product’s Node, wherever npm put it, also through a link', () => {
    node(`node_modules/node-${process.platform}-${process.arch}/bin/node`);
    symlinkSync(join(folder, 'package/bin/belay'), join(folder, 'link'));
    const expected = `same process /node_modules/node-${process.platform}-${process.arch}/bin/node /package/bin/belay.mjs run a b`;
    expect(run(join(folder, 'package/bin/belay'))).toBe(expected);
    expect(run(join(folder, 'link'))).toBe(expected);
  });

  it('becomes the Node in PATH where the package has none', () => {
    node('path/node');
    expect(run(join(folder, 'package/bin/belay'))).toBe(
      'same process /path/node /package/bin/belay.mjs run a b',
    );
  });
});
