import { createHash } from 'node:crypto';
import type {
  EvaluationInfo,
  EvaluationProgress,
  EvaluationSummary,
  EvaluationTrial,
} from '@belay/protocol';
import { until } from '@belay/testing';
import { dashboardSocket, type Socket } from '../../testing/dashboard-socket.js';
import { onEveryDatabase } from '../../testing/databases.js';
import { TestServer } from '../../testing/server.js';

const info: EvaluationInfo = {
  suite: 'human-eval',
  agent: 'model',
  model: 'openai:gpt-5',
  tasks: ['a', 'b'],
  attempts: 2,
  folder: '/results/one',
  host: 'here',
  created: '2026-01-01T00:00:00.000Z',
};

const trial = (task: string, attempt: number, more: Partial<EvaluationTrial> = {}) => ({
  task,
  attempt,
  state: 'queued' as const,
  session: null,
  place: null,
  verdict: null,
  seconds: { build: 0, agent: 0, verify: 0 },
  tokens: 0,
  dollars: 0,
  answer: null,
  log: null,
  ...more,
});

const judged = (task: string, attempt: number, outcome: 'pass' | 'fail' | 'invalid') =>
  trial(task, attempt, {
    state: 'done',
    verdict: { outcome, cause: null, reward: outcome === 'pass' ? 1 : 0, detail: 'So it is.' },
    tokens: 10,
    dollars: 0.25,
  });

const progress: EvaluationProgress = {
  state: 'running',
  phase: 'trials',
  checks: null,
  reason: null,
  score: { value: 0.5, interval: [0.1, 0.9], valid: null },
  validity: null,
};

onEveryDatabase('the board of benchmark runs', (databases) => {
  const server = new TestServer();
  let place: Record<string, string>;
  beforeAll(async () => {
    place = await databases.fresh();
    await server.start(place);
  });
  afterAll(() => server.close());

  const open = (id: string, more: object = {}) =>
    server.json<{ epoch: number; trials: EvaluationTrial[] }>('PUT', `/api/evaluations/${id}`, {
      ...info,
      ...more,
    });
  const report = (id: string, changes: object) =>
    server.json('POST', `/api/evaluations/${id}/reports`, changes);
  const get = async (id: string) =>
    (await server.json<{ summary: EvaluationSummary }>('GET', `/api/evaluations/${id}`)).summary;
  const trials = (id: string, after = 0) =>
    server.json<{ seq: number; trials: EvaluationTrial[] }>(
      'GET',
      `/api/evaluations/${id}/trials?after=${after}`,
    );

  it('keeps the newest state of each trial, and what changed since a report', async () => {
    expect(await open('r1')).toMatchObject({ epoch: 1, trials: [] });
    const all = [trial('a', 1), trial('a', 2), trial('b', 1), trial('b', 2)];
    expect(await report('r1', { epoch: 1, trials: all, progress })).toMatchObject({ status: 204 });
    const begun = (await get('r1')).begun;
    expect(begun).not.toBeNull();
    const change = {
      epoch: 1,
      trials: [judged('a', 1, 'pass'), judged('b', 2, 'invalid')],
      progress,
    };
    await report('r1', change);
    // As after a break between storing and answering.
    await report('r1', change);
    const summary = await get('r1');
    expect(summary).toMatchObject({
      id: 'r1',
      tasks: 2,
      state: 'running',
      begun,
      done: 2,
      outcomes: { pass: 1, fail: 0, invalid: 1 },
      tokens: 20,
      dollars: 0.5,
      score: progress.score,
    });
    const changed = await trials('r1', 1);
    expect(changed.seq).toBe(summary.seq);
    expect(changed.trials).toEqual(change.trials);
    expect((await trials('r1')).trials).toHaveLength(4);
    expect(await trials('r1', summary.seq)).toMatchObject({ seq: summary.seq, trials: [] });
    const list = await server.json<EvaluationSummary[]>('GET', '/api/evaluations');
    expect(list).toEqual(expect.arrayContaining([summary]));
  });

  it('survives a restart; a process that resumes fences the former one', async () => {
    await open('r2');
    await report('r2', { epoch: 1, trials: [judged('a', 1, 'fail')], progress });
    await report('r2', {
      epoch: 1,
      progress: { ...progress, state: 'interrupted', reason: 'Ctrl-C' },
    });
    expect(await get('r2')).toMatchObject({ state: 'interrupted', reason: 'Ctrl-C' });
    await server.restart(place);
    const opened = await open('r2', { folder: '/moved' });
    expect(opened).toMatchObject({ epoch: 2, trials: [judged('a', 1, 'fail')] });
    expect(await get('r2')).toMatchObject({
      state: 'running',
      reason: null,
      folder: '/moved',
      done: 1,
      begun: null,
      score: progress.score,
    });
    expect(await report('r2', { epoch: 1, trials: [judged('b', 1, 'pass')] })).toMatchObject({
      status: 409,
      code: 'conflict',
    });
    await report('r2', { epoch: 2, progress });
    expect(await get('r2')).toMatchObject({ done: 1, doneBefore: 1 });
  });

  it('returns the time of a run’s last report', async () => {
    await open('r3');
    const { reported, seq } = await get('r3');
    await until('later', async () => {
      await report('r3', { epoch: 1 });
      return (await get('r3')).reported > reported;
    });
    expect((await get('r3')).seq).toBe(seq);
  });

  it('takes a whole suite at once', async () => {
    const tasks = Array.from({ length: 2_400 }, (_, index) => `task-${index}`);
    await open('r4', { tasks, attempts: 1 });
    await report('r4', { epoch: 1, trials: tasks.map((task) => judged(task, 1, 'pass')) });
    expect(await get('r4')).toMatchObject({ done: 2_400, outcomes: { pass: 2_400 } });
  });

  it('has the answers and logs of trials, for download only', async () => {
    await open('r5');
    const text = '<script>alert(1)</script>';
    const { blob } = (await (
      await server.fetch('/api/blobs', {
        method: 'POST',
        body: text,
        headers: { 'content-type': 'text/html' },
      })
    ).json()) as { blob: string };
    expect(blob).toBe(createHash('sha256').update(text).digest('hex'));
    const answer = await server.fetch(`/api/evaluations/r5/blobs/${blob}`);
    expect(await answer.text()).toBe(text);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/);
    expect((await server.fetch(`/api/evaluations/none/blobs/${blob}`)).status).toBe(404);
  });

  it('is closed without a token, and a viewer only watches', async () => {
    await open('r6');
    const tries = [
      ['GET', '/api/evaluations'],
      ['GET', '/api/evaluations/r6/trials'],
      ['PUT', '/api/evaluations/r6'],
      ['POST', '/api/evaluations/r6/reports'],
      ['DELETE', '/api/evaluations/r6'],
    ] as const;
    for (const [method, path] of tries) {
      expect((await server.fetch(path, { method, token: '' })).status).toBe(401);
      const viewer = await server.fetch(path, { method, token: server.viewerToken });
      expect(viewer.status).toBe(method === 'GET' ? 200 : 403);
    }
  });

  it.each([
    ['an id that is a path', 'PUT', '/api/evaluations/..%2Fx', info, 400],
    ['no tasks', 'PUT', '/api/evaluations/bad', { ...info, tasks: [] }, 400],
    ['a run that was never opened', 'POST', '/api/evaluations/none/reports', { epoch: 1 }, 404],
    ['a run that is not there', 'DELETE', '/api/evaluations/none', undefined, 404],
  ])('refuses %s', async (_, method, path, body, status) => {
    expect((await server.json(method, path, body)).status).toBe(status);
  });

  describe('live', () => {
    let socket: Socket;
    const seen = new Map<string, EvaluationSummary | null>();
    beforeAll(async () => {
      socket = dashboardSocket(server.url, { authorization: `Bearer ${server.viewerToken}` });
      socket.on('evaluation', ({ id, summary }) => seen.set(id, summary));
      expect(await socket.emitWithAck('evaluations', {})).toEqual({ ok: true, value: {} });
    });
    afterAll(() => socket.close());

    it('notifies viewers of new runs, changes and removals', async () => {
      await until('the runs of before', () => seen.has('r1') && seen.has('r6'));
      await open('r7');
      await until('the new one', () => seen.get('r7')?.state === 'running');
      await report('r7', { epoch: 1, trials: [judged('a', 1, 'pass')], progress });
      await until('its verdict', () => seen.get('r7')?.outcomes.pass === 1);
      await server.json('DELETE', '/api/evaluations/r7');
      await until('its removal', () => seen.get('r7') === null);
    });
  });
});
