import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditPage, BenchmarkData, EvaluationSummary, TokenInfo } from '@belay/protocol';
import { until } from '@belay/testing';
import { OwnTokens } from '../api/auth/own-tokens.js';
import { TestServer } from '../testing/server.js';
import { EvaluationService } from './evaluation.service.js';

const described = { suite: 'human-eval', tasks: 3, problem: null };

describe('a benchmark run that the server starts', () => {
  const server = new TestServer();
  const environment = {
    BELAY_CLI: join(__dirname, '../../../../libs/testkit/played-evaluation.mjs'),
    BELAY_IMAGE: 'sandbox:1',
    OPENAI_API_KEY: 'sk-secret',
    BELAY_URL: 'http://elsewhere.example',
    DOCKER_HOST: 'unix:///run/engine.sock',
    HTTPS_PROXY: 'http://proxy.example',
  };
  const start = async () => {
    await server.start(environment);
    server.app.get(OwnTokens).announce(server.url);
  };
  beforeAll(async () => {
    await start();
    await mkdir(join(server.data, 'benchmarks'));
    put('finishes', { described, plays: 'finishes' });
    put('waits', { described, plays: 'waits' });
    put('fails', { described, plays: 'fails: belay: openai:x cannot be called: it is closed.' });
    put('crashes', { described, plays: 'fails: TypeError: x is not a function' });
    put('notes', { described: { suite: null, tasks: 0, problem: 'No suite reads it.' } });
  });
  afterAll(() => server.close());

  const put = (name: string, content: object): void =>
    writeFileSync(join(server.data, 'benchmarks', name), JSON.stringify(content));
  const post = (more: object) =>
    server.json<EvaluationSummary & { detail: string }>('POST', '/api/evaluations', {
      agent: 'oracle',
      ...more,
    });
  const get = async (id: string) =>
    (await server.json<{ summary: EvaluationSummary }>('GET', `/api/evaluations/${id}`)).summary;
  /** The run once it has ended, in this state, and its process with it: the next start waits only for a while. */
  const reaches = async (id: string, state: string): Promise<EvaluationSummary> => {
    await until(`${id} has ended`, async () => (await get(id)).state !== 'running');
    const isOf = ({ label }: TokenInfo) => label.endsWith(id);
    await until('its process has ended', async () => !(await tokens()).some(isOf));
    const found = await get(id);
    expect(found).toMatchObject({ state });
    return found;
  };
  /** Resolves once its process is reporting. */
  const begun = async (id: string): Promise<void> => {
    await until(`${id} has begun`, async () => {
      const { phase, state } = await get(id);
      return phase === 'trials' || state !== 'running';
    });
    expect(await get(id)).toMatchObject({ state: 'running' });
  };
  const stop = (id: string) => server.json('POST', `/api/evaluations/${id}/stop`);
  const tokens = () => server.json<TokenInfo[]>('GET', '/api/tokens');
  const given = () =>
    JSON.parse(readFileSync(join(server.data, 'given.json'), 'utf8')) as {
      args: string[];
      env: Record<string, string>;
    };

  it('lists the data that it can run, with the suite of each', async () => {
    const { folder, entries } = await server.json<BenchmarkData>('GET', '/api/evaluation-data');
    expect(folder).toBe(join(server.data, 'benchmarks'));
    expect(entries).toEqual(
      expect.arrayContaining([
        { name: 'finishes', ...described },
        { name: 'notes', suite: null, tasks: 0, problem: 'No suite reads it.' },
      ]),
    );
  });

  it('is on the board at once, and its process reports what follows', async () => {
    const chosen = {
      data: 'finishes',
      sample: 2,
      concurrency: 3,
      maxDollars: 1.5,
      preflight: true,
    };
    const started = await post({ ...chosen, attempts: 4 });
    expect(started).toMatchObject({
      status: 201,
      suite: 'human-eval',
      agent: 'oracle',
      state: 'running',
      phase: 'starting',
      tasks: 2,
      attempts: 4,
      start: { ...chosen, by: 'Owner' },
    });
    const { id, folder, start } = started;
    expect(await reaches(id, 'finished')).toMatchObject({ id, tasks: 1, start });
    expect(given().args).toEqual([
      'human-eval',
      `--data=${join(server.data, 'benchmarks/finishes')}`,
      '--agent=oracle',
      '--sample=2',
      '--attempts=4',
      '--concurrency=3',
      '--max-dollars=1.5',
      '--preflight',
      '--base-image=sandbox:1',
      `--board-id=${id}`,
      `--out=${folder}`,
    ]);
    const { entries } = await server.json<AuditPage>('GET', '/api/audit');
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'evaluations.start', subject: 'finishes' }),
      ]),
    );
  });

  it('gets a token for what a run does, until it ends, and no other secret of the server', async () => {
    const { id } = await post({ data: 'waits' });
    await begun(id);
    const { args, env } = given();
    expect(env).toMatchObject({
      BELAY_DATA: server.data,
      DOCKER_HOST: environment.DOCKER_HOST,
      HTTPS_PROXY: environment.HTTPS_PROXY,
    });
    const { BELAY_TOKEN: token = '' } = env;
    expect(JSON.stringify(args)).not.toContain(token);
    expect(
      Object.keys(env)
        .filter((name) => name.startsWith('BELAY_'))
        .toSorted(),
    ).toEqual(['BELAY_DATA', 'BELAY_TOKEN']);
    expect(JSON.stringify(env)).not.toContain(environment.OPENAI_API_KEY);
    const status = async (path: string) => (await server.fetch(path, { token })).status;
    expect(await status('/api/sessions')).toBe(200);
    expect(await status('/api/tokens')).toBe(403);
    await stop(id);
    await reaches(id, 'interrupted');
    await until('its token has ended', async () => (await status('/api/sessions')) === 401);
  });

  it('that fails before its first report is failed, with its sentence as the reason', async () => {
    const { id } = await post({ data: 'fails' });
    const reason = 'openai:x cannot be called: it is closed.';
    expect(await reaches(id, 'failed')).toMatchObject({ reason, phase: 'starting' });
  });

  it('that crashes is failed, with its last lines as the reason', async () => {
    const { id } = await post({ data: 'crashes' });
    const { reason } = await reaches(id, 'failed');
    expect(reason).toMatch(/ended with the exit code 1: .*TypeError: x is not a function$/);
  });

  it('ends as by Ctrl-C when it is stopped, and the board says by whom', async () => {
    const { id } = await post({ data: 'waits' });
    await begun(id);
    expect(await stop(id)).toMatchObject({ status: 204 });
    await until('the reason', async () => (await get(id)).reason === 'Owner stopped it.');
    expect(await get(id)).toMatchObject({ state: 'interrupted', phase: 'trials' });
    expect(await stop(id)).toMatchObject({ status: 409, detail: 'This run is not in progress.' });
  });

  it('is the only one: a second start is refused until it has ended', async () => {
    const both = await Promise.all([post({ data: 'waits' }), post({ data: 'waits' })]);
    expect(both).toContainEqual(expect.objectContaining({ status: 409 }));
    const { id } = both.find(({ status }) => status === 201)!;
    await begun(id);
    expect(await post({ data: 'finishes' })).toMatchObject({
      status: 409,
      detail: expect.stringMatching(/in progress.*stop it/),
    });
    const remove = () => server.json('DELETE', `/api/evaluations/${id}`);
    expect(await remove()).toMatchObject({ status: 409, detail: expect.stringMatching(/Stop it/) });
    await stop(id);
    await reaches(id, 'interrupted');
    const next = await post({ data: 'finishes' });
    expect(next.status).toBe(201);
    await reaches(next.id, 'finished');
    expect(await remove()).toMatchObject({ status: 204 });
  });

  it('can be started just as the one before it ends', async () => {
    const { id } = await post({ data: 'waits' });
    await begun(id);
    const board = server.app.get(EvaluationService);
    const look = board.get.bind(board);
    const looks = jest.spyOn(board, 'get').mockImplementationOnce(async (of) => {
      await stop(id);
      await until('it has ended', async () => (await get(id)).reason === 'Owner stopped it.');
      return look(of);
    });
    const next = await post({ data: 'finishes' });
    expect(next.status).toBe(201);
    await reaches(next.id, 'finished');
    looks.mockRestore();
  });

  it('ends with its token', async () => {
    const { id } = await post({ data: 'waits' });
    await begun(id);
    const token = (await tokens()).find(({ label }) => label.endsWith(id));
    expect(token).toMatchObject({ scope: 'operate', sessions: 'all' });
    await server.json('DELETE', `/api/tokens/${token?.id}`);
    expect(await reaches(id, 'interrupted')).toMatchObject({ reason: 'Its token was revoked.' });
  });

  it('leaves runs of terminals alone', async () => {
    const run = { suite: 'mbpp', agent: 'nop', model: null, tasks: ['a'], attempts: 1 };
    const created = new Date().toISOString();
    const place = { folder: '/results', host: 'laptop', created };
    await server.json('PUT', '/api/evaluations/terminal', { ...run, ...place });
    expect(await stop('terminal')).toMatchObject({
      status: 409,
      detail: expect.stringMatching(/Ctrl-C in its terminal on laptop/),
    });
    await server.app.close();
    await start();
    expect(await get('terminal')).toMatchObject({ state: 'running' });
  });

  it('ends with the server, which says so after its next start', async () => {
    const { id } = await post({ data: 'waits' });
    await begun(id);
    const [{ env }, token] = [given(), (await tokens()).find(({ label }) => label.endsWith(id))];
    expect(token).toBeDefined();
    await server.app.close();
    await start();
    const reason = 'The server ended while it was in progress.';
    expect(await get(id)).toMatchObject({ state: 'interrupted', reason });
    const again = await server.fetch('/api/sessions', { token: env.BELAY_TOKEN ?? '' });
    expect(again.status).toBe(401);
    expect(await tokens()).not.toContainEqual(expect.objectContaining({ id: token?.id }));
  });

  it('cannot be started without the command line', async () => {
    await server.app.close();
    await server.start();
    const refused = await post({ data: 'finishes' });
    expect(refused).toMatchObject({ status: 503, detail: expect.stringMatching(/belay up/) });
    expect(await tokens()).toEqual([]);
    await rm(join(server.data, 'benchmarks'), { recursive: true });
    expect(existsSync(join(server.data, 'benchmarks'))).toBe(false);
    expect(await server.json('GET', '/api/evaluation-data')).toMatchObject({ entries: [] });
  });
});
