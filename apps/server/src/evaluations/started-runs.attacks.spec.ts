import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  BenchmarkData,
  EvaluationSummary,
  MadeToken,
  NewToken,
  TokenInfo,
} from '@belay/protocol';
import { until } from '@belay/testing';
import { OwnTokens } from '../api/auth/own-tokens.js';
import { TestServer } from '../testing/server.js';

const content = JSON.stringify({
  described: { suite: 'human-eval', tasks: 1, problem: null },
  plays: 'finishes',
});

describe('attacks: benchmark runs that the server starts', () => {
  const server = new TestServer();
  let folder: string;
  beforeAll(async () => {
    await server.start({
      BELAY_CLI: join(__dirname, '../../../../libs/testkit/played-evaluation.mjs'),
    });
    server.app.get(OwnTokens).announce(server.url);
    folder = join(server.data, 'benchmarks');
    await mkdir(join(folder, 'inner'), { recursive: true });
    for (const name of ['good', '--out=taken', 'inner/file', '.hidden', '../outside'])
      writeFileSync(join(folder, name), content);
    symlinkSync(join(server.data, 'outside'), join(folder, 'link-out'));
    symlinkSync('..', join(folder, 'link-up'));
    symlinkSync('good', join(folder, 'link-in'));
    symlinkSync('nothing', join(folder, 'link-to-nothing'));
    // A sibling whose path begins like the folder’s.
    await mkdir(`${folder}-other`);
    symlinkSync(`${folder}-other`, join(folder, 'link-beside'));
  });
  afterAll(() => server.close());

  const post = (more: object, token = server.token) =>
    server
      .fetch('/api/evaluations', {
        method: 'POST',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ agent: 'oracle', ...more }),
      })
      .then(async (answer) => {
        const found = (await answer.json()) as EvaluationSummary & { detail: string };
        return { ...found, status: answer.status };
      });
  const finished = async (id: string): Promise<void> => {
    const path = `/api/evaluations/${id}`;
    const now = () => server.json<{ summary: EvaluationSummary }>('GET', path);
    await until(`${id} has ended`, async () => (await now()).summary.state !== 'running');
    // The next start waits only for a while for the process of this one.
    const isOf = ({ label }: TokenInfo) => label.endsWith(id);
    const tokens = () => server.json<TokenInfo[]>('GET', '/api/tokens');
    await until('its process has ended', async () => !(await tokens()).some(isOf));
    expect((await now()).summary).toMatchObject({ state: 'finished' });
  };
  const given = () =>
    JSON.parse(readFileSync(join(server.data, 'given.json'), 'utf8')) as { args: string[] };

  it.each([
    '../outside',
    '..',
    '.',
    '.hidden',
    'inner/file',
    'inner/../../outside',
    '/etc/passwd',
    'good\0',
    'link-out',
    'link-up',
    'link-to-nothing',
    'link-beside',
    '',
  ])('the name %j leads to no data', async (data) => {
    expect([400, 404]).toContain((await post({ data })).status);
  });

  it('links out of the folder are not listed, and those within it are', async () => {
    const { entries } = await server.json<BenchmarkData>('GET', '/api/evaluation-data');
    expect(entries.map(({ name }) => name)).toEqual(['--out=taken', 'good', 'inner', 'link-in']);
  });

  it.each(['good', 'link-in', '--out=taken'])('the honest name %j starts a run', async (data) => {
    const started = await post({ data });
    expect(started.status).toBe(201);
    await finished(started.id);
    const real = data === 'link-in' ? 'good' : data;
    expect(given().args).toEqual([
      'human-eval',
      `--data=${join(folder, real)}`,
      '--agent=oracle',
      '--attempts=1',
      '--concurrency=2',
      expect.stringMatching(/^--base-image=/),
      `--board-id=${started.id}`,
      `--out=${started.folder}`,
    ]);
    expect(started.folder).toBe(join(server.data, 'benchmark-results', `human-eval-${started.id}`));
  });

  it('a model’s name stays one argument', async () => {
    const model = 'openai:x --out=/tmp/x\n--agent=command:id';
    const started = await post({ data: 'good', agent: 'model', model });
    expect(started.status).toBe(201);
    await finished(started.id);
    expect(given().args.slice(1, 5)).toEqual([
      `--data=${join(folder, 'good')}`,
      '--agent=model',
      `--model=${model}`,
      '--attempts=1',
    ]);
  });

  it.each([
    ['an agent that is a command', { agent: 'command:id' }],
    ['an agent that is a file', { agent: 'predictions:/etc/passwd' }],
    ['a model that is a file', { agent: 'model', model: 'scripted:/etc/passwd' }],
    ['a recording', { agent: 'model', model: 'cassette:/tmp/x?record=openai:x' }],
    ['a model that is an option', { agent: 'model', model: '--out=/tmp/x' }],
    ['a model for an agent without one', { agent: 'oracle', model: 'openai:x' }],
    ['no model for the agent that needs one', { agent: 'model' }],
    ['a number that is text', { attempts: '1 --out=/tmp/x' }],
    ['too many attempts', { attempts: 101 }],
    ['too many at once', { concurrency: 33 }],
    ['half a task', { sample: 0.5 }],
    ['a limit that is none', { maxDollars: 0 }],
    ['a limit that is text', { maxDollars: 'none' }],
  ])('%s is refused', async (_, more) => {
    expect(await post({ data: 'good', ...more })).toMatchObject({ status: 400 });
  });

  it('fields of the command that are not offered have no effect', async () => {
    const started = await post({ data: 'good', out: '/tmp/x', suite: 'mbpp', fromMap: ['a=b'] });
    await finished(started.id);
    expect(JSON.stringify(given().args)).not.toMatch(/\/tmp\/x|mbpp|a=b/);
  });

  it.each<[string, Partial<NewToken>]>([
    ['watches', { scope: 'view' }],
    ['operates', { scope: 'operate' }],
    ['starts its own sessions', { scope: 'operate', sessions: 'own' }],
  ])('a token that only %s neither sees the data nor starts or stops a run', async (_, wanted) => {
    const { token } = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'x',
      ...wanted,
    });
    expect((await post({ data: 'good' }, token)).status).toBe(403);
    for (const [method, path] of [
      ['GET', '/api/evaluation-data'],
      ['POST', '/api/evaluations/x/stop'],
    ] as const)
      expect((await server.fetch(path, { method, token })).status).toBe(403);
  });

  it('a token of the scope admin does', async () => {
    const { token } = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'x',
      scope: 'admin',
    });
    const started = await post({ data: 'good' }, token);
    expect(started).toMatchObject({ status: 201, start: { by: 'x' } });
    await finished(started.id);
  });
});
