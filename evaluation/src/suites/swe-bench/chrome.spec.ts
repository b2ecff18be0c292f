import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { assetText } from '../../asset-text.js';
import { temporary, write } from '../../testing/fixtures.js';

const { folder, remove } = temporary();
afterAll(remove);

// Only these programs, because the script changes each Chrome that it finds.
const tools = join(folder, 'tools');
mkdirSync(tools);
for (const name of ['dirname', 'readlink', 'mv', 'rm', 'chmod'])
  symlinkSync(join('/bin', name), join(tools, name));
const bin = join(folder, 'bin');
const run = (...command: string[]) =>
  spawnSync('/bin/bash', ['--norc', ...command], {
    encoding: 'utf8',
    env: { PATH: `${bin}:${tools}` },
  });

it('starts Chrome without its own sandbox, whether it is a file or a link', () => {
  const program = '#!/bin/bash\necho "$0" "$@"\n';
  write(folder, { 'bin/google-chrome': program, 'opt/chrome/chrome': program });
  for (const path of ['bin/google-chrome', 'opt/chrome/chrome'])
    chmodSync(join(folder, path), 0o755);
  symlinkSync(join(folder, 'opt/chrome/chrome'), join(bin, 'google-chrome-stable'));
  const start = (name: string) => run('-c', `${name} --headless 'a b'`).stdout;
  expect(start('google-chrome')).toBe(`${bin}/google-chrome --headless a b\n`);

  expect(run('-c', assetText('chrome-without-sandbox.sh'))).toMatchObject({
    status: 0,
    stderr: '',
  });
  expect(start('google-chrome')).toBe(
    `${bin}/google-chrome.sandboxed --no-sandbox --headless a b\n`,
  );
  expect(start('google-chrome-stable')).toBe(
    `${folder}/opt/chrome/chrome --no-sandbox --headless a b\n`,
  );
});
