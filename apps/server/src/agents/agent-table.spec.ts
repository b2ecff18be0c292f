import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '@belay/protocol';
import type { AgentStart } from './agent-entry.js';
import { agentLocks, variantsOf, lockedVersion } from './agent-lock.js';
import { agentTable } from './agent-table.js';

const root = join(__dirname, '../../../..');

const start = (more: Partial<AgentStart> = {}): AgentStart => ({
  node: '/opt/belay/node',
  root: '/opt/agents/x',
  arch: 'x64',
  clib: 'glibc',
  home: '/home/agent',
  gateway: 'http://127.0.0.1:1',
  token: 'the-token',
  format: 'chat',
  model: 'large',
  small: 'little',
  task: 'Do it',
  trusted: false,
  ...more,
});

const entries = [...agentTable.values()];

/** Names that mean something else, too. */
const words = new Set(['gemini', 'pi']);

it('says everything about an agent in one file', () => {
  const titles = entries.flatMap(({ name, title }) => (words.has(name) ? [title] : [name, title]));
  const packages = [...agentLocks.values()].flatMap(({ roots }) => Object.keys(roots));
  const pattern = [...titles, ...packages].filter((name) => !words.has(name)).join('|');
  const found = execFileSync(
    'git',
    ['grep', '--untracked', '-lwE', pattern, '--', 'apps', 'libs', 'evaluation'],
    { cwd: root, encoding: 'utf8' },
  );
  const others = found
    .split('\n')
    .filter((path) => path !== '' && !/\.(spec|attacks)\.tsx?$|\/testing\//.test(path))
    .filter((path) => !/^apps\/server\/src\/agents\/(table|locks)\//.test(path));
  expect(others.filter((path) => !known.has(path))).toEqual([]);
});

/** The lists of what the table has, and calls, patches and transcripts in formats that other vendors made. */
const known = new Set([
  'apps/agent/src/files/patch/parse-envelope.ts',
  'apps/agent/src/files/patch/parse-patch.ts',
  'libs/protocol/src/foreign-call.ts',
  'apps/server/src/agents/agent-table.ts',
  'apps/server/src/agents/agent-lock.ts',
  'apps/server/src/transcripts/claude-code-transcript.ts',
  'apps/server/src/transcripts/codex-transcript.ts',
]);

it('has a lock for every agent, which names no registry', () => {
  expect([...agentLocks.keys()].toSorted()).toEqual([...agentTable.keys()].toSorted());
  for (const [name, lock] of agentLocks) {
    const file = readFileSync(join(__dirname, `locks/${name}.json`), 'utf8');
    expect(file).not.toMatch(/https?:/);
    expect(lockedVersion(lock)).toMatch(/^\d/);
    expect(new Set(lock.packages.map(({ path }) => path)).size).toBe(lock.packages.length);
    for (const root of Object.keys(lock.roots))
      expect(lock.packages.map(({ path }) => path)).toContain(`node_modules/${root}`);
    expect(variantsOf(lock, 'x64').length).toBeGreaterThan(0);
  }
});

describe.each(entries)('$name', (entry) => {
  it('starts in both protocols from its own folder or with Belay’s Node', () => {
    for (const protocol of entry.protocols) {
      const [program = '', ...args] = entry.command(start(), protocol);
      expect([program, ...args].some((part) => part.startsWith('/opt/agents/x/'))).toBe(true);
      expect(program).toMatch(/^\/opt\/(belay\/node$|agents\/x\/)/);
      expect(args.some((part) => part.endsWith('Do it'))).toBe(protocol === 'terminal');
    }
  });

  it('is started again in a terminal without the task', () => {
    const [first, again] = ['Do it', null].map((task) =>
      entry.command(start({ task }), 'terminal'),
    );
    const rest = first?.filter((part) => !part.endsWith('Do it') && part !== '--');
    expect(again).toEqual(rest);
  });

  it('can be signed in to without the gateway, in its own folder', () => {
    const { login } = entry;
    if (!login) return;
    expect(login.hosts.length).toBeGreaterThan(0);
    for (const host of login.hosts) expect(host).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);
    const given = start({ task: '--version' });
    const command = login.command(given);
    expect(command.slice(-2)).toEqual(['--', '--version']);
    expect(login.command(start({ task: null }))).toEqual(command.slice(0, -2));
    expect(command.some((part) => part.startsWith('/opt/agents/x/'))).toBe(true);
    const settings = JSON.stringify([command, login.env(given), login.policy]);
    expect(settings).toContain('/home/agent');
    expect(settings).not.toMatch(/127\.0\.0\.1|the-token|large/);
  });

  it('never reads a task as an option', () => {
    const command = entry.command(start({ task: '--version' }), 'terminal');
    const at = command.indexOf('--version');
    expect(at < 0 || command[at - 1] === '--').toBe(true);
    expect(command.at(-1)).toContain('--version');
  });

  it.each(entry.formats)('reaches models in the format %s by the gateway alone', (format) => {
    const given = start({ format });
    const settings = JSON.stringify([entry.env(given), entry.files(given)]);
    expect(settings).toContain('http://127.0.0.1:1/');
    expect(settings).toContain('the-token');
    expect(settings).toContain('large');
    for (const { path, text } of entry.policy) {
      expect(path).toMatch(/^\/etc\//);
      expect(text).not.toContain('the-token');
    }
    for (const { path } of entry.files(given)) expect(path).toMatch(/^\/home\/agent\//);
  });

  it('runs only files of packages in its lock', () => {
    const lock = agentLocks.get(entry.name);
    const packages = lock?.packages.map(({ path }) => `/opt/agents/x/${path}/`) ?? [];
    const given = start();
    const settings = JSON.stringify([
      entry.env(given),
      entry.files(given),
      entry.protocols.map((protocol) => entry.command(given, protocol)),
    ]);
    const named = settings.match(/\/opt\/agents\/x\/[^"\\]+/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    for (const path of named)
      expect(packages.some((folder) => path.startsWith(folder)) ? '' : path).toBe('');
  });

  it('names operations that take what its shell sends', () => {
    const shells = Object.values(entry.tools).filter(
      (map) => map.kind === 'operation' && map.operation === 'terminal.run',
    );
    expect(shells.length).toBeGreaterThan(0);
    for (const [tool, map] of Object.entries(entry.tools)) {
      const text = 'No: it’s `not`\n$(allowed)';
      const standIn = entry.standIn(text, ['other', tool]);
      if (!standIn || typeof standIn.input === 'string' || map.kind !== 'operation') continue;
      const { command } = operations['terminal.run'].input.parse(map.input(standIn.input));
      const run = () => execFileSync('/bin/sh', ['-c', command], { stdio: 'pipe' });
      expect(run).toThrow('No: it’s `not` $(allowed)');
    }
    expect(entry.standIn('No', ['unknown'])).toBeNull();
  });
});
