import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newEvent, type AgentProgram } from '@belay/protocol';
import { staysTrue } from '@belay/testing';
import { readEnvironment } from '../../environment.js';
import { fakeProgram } from '../../testing/fake-program.js';
import { streamedReply } from '../../testing/streamed-reply.js';
import { RealServices } from '../../testing/real-services.js';
import { Stage } from '../../testing/stage.js';

let folder: string;
let stage: Stage;
let services: RealServices;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belay-terminal-'));
  for (const name of ['workspace', 'state', 'home']) mkdirSync(join(folder, name));
});
afterEach(async () => {
  await stage.server.call('shutdown', {}).catch(() => undefined);
  await stage.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Begins a session whose agent is this shell script in a terminal; `again` is that of later starts. */
function begin(script: string, again = script, more: Partial<AgentProgram> = {}): void {
  const programOf = (later: string): AgentProgram => {
    const launch: AgentProgram['launches']['trusted'] = {
      command: ['sh', '-c', script],
      again: ['sh', '-c', later],
      env: { FAKE_TOKEN: "it's secret" },
      files: [{ path: join(folder, 'home/settings.json'), text: '{}' }],
      newSession: {},
    };
    return fakeProgram(launch, { protocol: 'terminal', home: join(folder, 'home'), ...more });
  };
  const environment = readEnvironment({
    PATH: process.env['PATH'],
    HOME: folder,
    BELAY_CONNECTION: 'unix:/none',
    BELAY_WORKSPACE: join(folder, 'workspace'),
    BELAY_STATE: join(folder, 'state'),
  });
  services = new RealServices(() => environment);
  stage = new Stage({
    turns: [],
    createServices: services.open,
    program: programOf(again),
    laterProgram: programOf('echo of openai:other >> out'),
  });
}

const type = (data: string) => stage.server.call('terminal.keys', { terminal: 'agent', data });
const why = (nth: number) => stage.event('attention', nth).then(({ args }) => args['why']);
const made = () => join(folder, 'workspace/b.txt');
const tokens = { inputTokens: 1, outputTokens: 1, dollars: null };
const sizes = { bytes: 1, messages: 1, tools: 1 };
const asks = { request: 'r', format: 'chat', model: 'm', ...sizes, reserved: tokens } as const;
const request = (purpose: 'side' | 'turn') =>
  newEvent('server', 'request', { args: { ...asks, purpose }, message: 'Request' });
const written = () => readFileSync(join(folder, 'workspace/out'), 'utf8');

it('runs in a terminal that its user types into, until it ends', async () => {
  begin('printf "\\a"; read line; echo "$line $FAKE_TOKEN" > out');
  expect(await why(1)).toBe('Fake rang the bell.');
  const held = stage.log.filter(({ action }) => action === 'terminal').at(-1);
  expect(held?.args).toMatchObject({ terminal: 'agent', change: 'held', holder: 'user' });
  await type('hello\r');
  expect(await why(2)).toBeNull();
  expect((await stage.event('end')).args).toEqual({ text: 'Fake has ended.' });
  expect(written()).toBe("hello it's secret\n");
  expect(
    stage.log.flatMap(({ action, args }) => (action === 'turn' ? [args['change']] : [])),
  ).toEqual(['began', 'ended']);
  expect(JSON.stringify(stage.log)).not.toContain('secret');
});

it('goes on without the task when it is started again', async () => {
  begin('echo first >> out', 'echo again >> out');
  await stage.event('end');
  await stage.message('More');

  await stage.event('end', 2);
  expect(written()).toBe('first\nagain\n');
});

it('is started again for the model that the user chose', async () => {
  begin('echo first >> out');
  await stage.event('end');
  const change = { args: { model: 'openai:other' }, message: 'Other' };
  await stage.say(newEvent('user', 'change', change));
  await stage.message('More');
  await stage.event('end', 2);
  expect(written()).toBe('first\nof openai:other\n');
});

it('ends the calls of its model when it asks again, and records what they changed', async () => {
  begin('echo x > made; printf "\\a"; read line');
  await why(1);
  const call = (id: string) => ({
    source: 'server' as const,
    action: 'terminal.run',
    args: { command: 'echo x > made' },
    message: 'Run',
    id,
  });
  const refusal = newEvent('user', 'reject', { args: { reason: 'No.' }, message: 'No', id: 'b' });
  await stage.say(call('a'));
  await stage.say(call('b'));
  await stage.say(refusal);
  await stage.say(request('side'));
  expect(stage.log.some(({ action }) => action === 'result')).toBe(false);
  await stage.say(request('turn'));
  expect((await stage.event('result', 2)).args).toMatchObject({
    ok: false,
    output: { code: 'rejected', message: 'The user did not allow this: No.' },
  });
  expect((await stage.event('result')).args).toMatchObject({
    ok: true,
    output: { exitCode: null },
  });
  const commit = await stage.event('commit', 2);
  expect(commit).toMatchObject({ id: 'a', args: { files: [{ path: 'made' }] } });
});

it('is asked for its next calls while the changes of the earlier ones are recorded', async () => {
  const call = (id: string, command: string) =>
    stage.say({ source: 'server', action: 'terminal.run', args: { command }, message: 'Run', id });
  const post = `{ method: 'POST', headers: { authorization: 'Bearer ${'x'.repeat(32)}' } }`;
  const ask = `${process.execPath} -e "fetch('$url', ${post})"`;
  begin(`printf "\\a"; read url; echo one > a.txt; ${ask}; echo two > b.txt; ${ask}`);
  await why(1);
  await call('a', 'echo one > a.txt');
  const asked = Promise.withResolvers<void>();
  stage.server.accept('model', async (_, stream) => {
    asked.resolve();
    await stage.say(request('turn'));
    if (!existsSync(made())) await call('b', 'echo two > b.txt');
    stream.end(streamedReply('Next.'));
  });
  const release = services.holdCommits();
  await type(`${services.modelUrl}/chat/completions\r`);
  await asked.promise;
  await staysTrue('the program has no reply', 200, () => !existsSync(made()));
  release();
  await stage.event('end');
  const commits = stage.log.filter(({ action, id }) => action === 'commit' && id !== undefined);
  expect(commits.map(({ id, args }) => [id, args['files']])).toMatchObject([
    ['a', [{ path: 'a.txt' }]],
    ['b', [{ path: 'b.txt' }]],
  ]);
});

it('does not start before the user trusts what it would use all the same', async () => {
  mkdirSync(join(folder, 'workspace/.fake'));
  const script = 'echo ran >> out';
  begin(script, script, { ignoresDistrust: ['.fake'] });
  expect((await stage.event('error')).message).toContain('Fake would use .fake of the project');
  rmSync(join(folder, 'workspace/.fake'), { recursive: true });
  await stage.message('Go on');
  await stage.event('end');
  expect(written()).toBe('ran\n');
});

it('says what a notification says', async () => {
  begin(`printf '\\033]777;notify;Fake;Allow it?\\007'; read line`);
  expect(await why(1)).toBe('Fake: Allow it?');
});

it('goes on when its model is called', async () => {
  begin('printf "\\a"; sleep 1000');
  await why(1);
  const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, dollars: null };
  const args = { ...usage, model: 'm', contextTokens: 1, contextWindow: null };
  await stage.say(newEvent('server', 'usage', { args, message: 'Used.' }));
  expect(await why(2)).toBeNull();
});

it('gets a message that is sent at once as if it were typed', async () => {
  begin('printf "\\a"; read line; printf %s "$line" > out');
  await why(1);
  await stage.message('go on\x1b[201~', { delivery: 'steer' });
  await stage.event('end');
  expect(written()).toContain('go on[201~');
});

it.each([
  ['exit 3', 'Fake ended (exit 3).'],
  ['exit 127', 'The program of Fake was not found in the sandbox.'],
])('waits for the user after %s', async (script, sentence) => {
  begin(script);
  expect((await stage.event('error')).message).toContain(sentence);
});

it('is ended when the user stops the session', async () => {
  begin('printf "\\a"; sleep 1000');
  await why(1);
  await stage.say(newEvent('user', 'stop', { args: {}, message: 'Stop' }));
  await stage.until((log) => log.some(({ args }) => args['change'] === 'ended'));
  expect(stage.log.some(({ action }) => action === 'error')).toBe(false);
});

it('writes nothing of a terminal in which its user signs in, and has no gateway', async () => {
  const lines = ['echo CODE-1234', 'printf "\\033]9;CODE-1234\\a"', 'read line'].join('; ');
  begin(`bash -c '${lines}'`, '', { login: true });
  expect(await why(1)).toBe('Fake rang the bell.');
  await type('typed-secret\r');
  await stage.event('end');
  expect(services.modelUrl).toBe('');
  expect(JSON.stringify(stage.log)).not.toMatch(/CODE-1234|typed-secret/);
});

it('writes what a program without a sign-in says in its terminal', async () => {
  begin('printf "\\033]9;Look here\\a"; read line');
  expect(await why(1)).toBe('Look here');
  await type('\r');
  await stage.event('end');
});
