import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asUser, separateFromPrograms } from './user-separation.js';

it('starts programs as they are where real and effective user are the same', () => {
  separateFromPrograms(undefined);
  expect(asUser('/bin/echo', ['a b'])).toEqual({ file: '/bin/echo', args: ['a b'] });
});

it('puts setpriv before a program where they differ, and leaves its arguments alone', () => {
  const [real, effective, group] = [
    jest.spyOn(process, 'getuid').mockReturnValue(0),
    jest.spyOn(process, 'geteuid').mockReturnValue(1000),
    jest.spyOn(process, 'getegid').mockReturnValue(1000),
  ];
  const { file, args } = asUser('git', ['--version', '--reuid']);
  for (const spy of [real, effective, group]) spy.mockRestore();
  expect(file).toMatch(/\/setpriv$/);
  expect(args).toEqual(
    '--reuid 1000 --regid 1000 --keep-groups -- git --version --reuid'.split(' '),
  );
});

describe('attacks: a program with the agent’s ids', () => {
  // `contained/` starts programs of actions and MCP servers, in containers that no agent is in: it is as they are.
  const sources = readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('contained/'))
    .filter((name) => !/\.spec\.ts$|testing\/|-bench\.ts$/.test(name))
    .map((name) => ({ name, text: readFileSync(join(__dirname, name), 'utf8') }));
  const starts = /from 'node:child_process'|from 'node:cluster'|\blaunch\b.* from 'puppeteer/;

  it('is started nowhere: all that starts programs does so as the user', () => {
    const starting = sources.filter(
      ({ name, text }) => starts.test(text) && !name.endsWith('.d.ts'),
    );
    expect(starting.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['terminal/pty.ts', 'history/git.ts', 'browser/chromium.ts']),
    );
    expect(starting.filter(({ text }) => !/\basUser\(/.test(text))).toEqual([]);
  });

  it('is asked for nowhere: access(2) judges by the real user, so permissions.ts judges instead', () => {
    const asking = sources.filter(({ text }) =>
      /\b(?:access|accessSync|existsSync)\b[^']* from 'node:fs/.test(text),
    );
    expect(asking.map(({ name }) => name)).toEqual([]);
  });
});
