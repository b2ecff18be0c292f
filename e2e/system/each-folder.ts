import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder of the user for each test of the group, in which `git` runs. */
export function eachFolder(): { readonly path: string; git(...args: string[]): string } {
  let path = '';
  beforeEach(() => {
    path = realpathSync(mkdtempSync(join(tmpdir(), 'belay-folder-')));
  });
  afterEach(() => rmSync(path, { recursive: true }));
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
  return {
    get path() {
      return path;
    },
    git: (...args) => execFileSync('git', ['-C', path, ...author, ...args], { encoding: 'utf8' }),
  };
}
