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
  const node = (path: string) => program(path, '#!/bin/sh\necho "$$ $0 $*"\n');
  const program = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    chmodSync(join(folder, path), 0o755);
  };
  const own = `node_modules/node-${process.platform}-${process.arch}/bin/node`;
  const run = (command: string) => {
    const PATH = `${join(folder, 'path')}:${process.env['PATH']}`;
    const options = { encoding: 'utf8', env: { PATH }, timeout: 60_000 } as const;
    const { pid, stdout } = spawnSync(command, ['run', 'a b'], options);
    return stdout.trim().replace(`${pid} `, 'same process ').replaceAll(folder, '');
  };

  it('becomes the product’s Node, wherever npm put it, also through a link', () => {
    node(own);
    symlinkSync(join(folder, 'package/bin/belay'), join(folder, 'link'));
    const expected = `same process /${own} /package/bin/belay.mjs run a b`;
    expect(run(join(folder, 'package/bin/belay'))).toBe(expected);
    expect(run(join(folder, 'link'))).toBe(expected);
  });

  it('becomes the Node in PATH where the product’s cannot start, as with another C library', () => {
    program(own, '#!/lib/ld-of-another-libc\n');
    node('path/node');
    expect(run(join(folder, 'package/bin/belay'))).toBe(
      'same process /path/node /package/bin/belay.mjs run a b',
    );
  });

  it('finds the product’s Node where readlink knows no -f', () => {
    program('path/readlink', '#!/bin/sh\nexit 1\n');
    node(own);
    expect(run(join(folder, 'package/bin/belay'))).toBe(
      `same process /${own} /package/bin/belay.mjs run a b`,
    );
  });

  it('becomes the Node in PATH where the package has none', () => {
    node('path/node');
    expect(run(join(folder, 'package/bin/belay'))).toBe(
      'same process /path/node /package/bin/belay.mjs run a b',
    );
  });
});
