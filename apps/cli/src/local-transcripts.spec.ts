import {
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AgentChoice } from '@belay/protocol';
import { latestTranscript, programFolder, readTranscript } from './local-transcripts.js';

const agent = (name: string, variable: string, below: string): AgentChoice => ({
  name,
  title: `Agent ${name}`,
  about: '',
  kind: 'installable',
  protocols: ['acp'],
  formats: ['chat'],
  licence: null,
  state: 'ready',
  version: null,
  newest: null,
  bytes: { done: 0, total: 0 },
  error: null,
  sessions: 0,
  command: [],
  variables: [],
  transcripts: { variable, folder: `.${name}`, below, resume: `${name} resume` },
});
const agents = [agent('one', 'ONE_HOME', 'projects'), agent('two', 'TWO_HOME', 'sessions')];

describe('transcripts on this machine', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-transcripts-'));
    process.env['ONE_HOME'] = join(folder, 'one');
    process.env['TWO_HOME'] = join(folder, 'two');
  });
  afterEach(() => {
    delete process.env['ONE_HOME'];
    delete process.env['TWO_HOME'];
    rmSync(folder, { recursive: true });
  });

  const uuid = (digit: number) => `${digit}0000000-0000-4000-8000-000000000000`;
  const put = (path: string, changed: number, ...lines: unknown[]): string => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    utimesSync(file, changed, changed);
    return file;
  };
  const latest = () => latestTranscript(agents, '/home/me/project');

  it('are found by the folder that they are about, the newest first', async () => {
    const about = { cwd: '/home/me/project' };
    put(`one/projects/-a/${uuid(1)}.jsonl`, 1_000, { type: 'x' }, about);
    const newest = put(`two/sessions/2026/05/06/rollout-x-${uuid(2)}.jsonl`, 2_000, 7, {
      payload: about,
    });
    put(`two/sessions/2026/05/07/rollout-y-${uuid(3)}.jsonl`, 3_000, { cwd: '/home/me/other' });
    put(`two/sessions/2026/05/08/rollout-z-${uuid(4)}.jsonl`, 4_000, 'no folder', { cwd: 7 });
    // Of a subagent, and elsewhere.
    put('one/projects/-a/agent-1.jsonl', 5_000, about);
    put(`one/elsewhere/${uuid(5)}.jsonl`, 6_000, about);
    expect(await latest()).toEqual({ file: newest, from: 'two' });
  });

  it('are not looked for behind links', async () => {
    const file = put(`other/${uuid(1)}.jsonl`, 1_000, { cwd: '/home/me/project' });
    mkdirSync(join(folder, 'one/projects'), { recursive: true });
    symlinkSync(file, join(folder, `one/projects/${uuid(2)}.jsonl`));
    symlinkSync(join(folder, 'other'), join(folder, 'one/projects/linked'));
    await expect(latest()).rejects.toThrow(
      'There is no conversation of Agent one or Agent two about /home/me/project.',
    );
    // The control.
    put(`one/projects/a/${uuid(3)}.jsonl`, 1_000, { cwd: '/home/me/project' });
    expect((await latest()).from).toBe('one');
  });

  it('are in the home folder unless a variable names another', () => {
    const place = { variable: 'ONE_HOME', folder: '.one', below: 'projects', resume: 'one' };
    expect(programFolder(place)).toBe(join(folder, 'one'));
    delete process.env['ONE_HOME'];
    expect(programFolder(place)).toMatch(/\/\.one$/);
  });

  it('are read up to a size', async () => {
    const file = put('a.jsonl', 1_000, { a: 1 });
    expect(await readTranscript(file)).toBe('{"a":1}\n');
    truncateSync(file, 64 * 2 ** 20 + 1);
    await expect(readTranscript(file)).rejects.toThrow('larger than 64 MiB');
    await expect(readTranscript(folder)).rejects.toThrow('There is no file');
  });
});
