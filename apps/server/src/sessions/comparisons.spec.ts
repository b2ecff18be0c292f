import { AppError, type Comparison, type MadeToken, type SessionSummary } from '@belay/protocol';
import { until } from '@belay/testing';
import { AgentStore } from '../agents/agent.store.js';
import type { StoredMachine } from '../sandboxes/machines/machine.store.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { tarOfFile } from '../testing/fake-sandboxes.js';
import { TestServer } from '../testing/server.js';

type Answer<T> = T & { status: number; detail?: string };

describe('comparisons', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => {
    server.models.choose = () => Promise.resolve();
  });

  const post = <T = Comparison>(path: string, body?: unknown) =>
    server.json<T>('POST', `/api/comparisons${path}`, body ?? {}) as Promise<Answer<T>>;
  const get = (id: string) =>
    server.json<Comparison>('GET', `/api/comparisons/${id}`) as Promise<Answer<Comparison>>;
  const belay = (model: string) => ({ name: 'belay', model });
  const wanted = { task: 'Fix the test', models: ['scripted:a', 'scripted:b'] };
  const begin = async (more: object = {}): Promise<{ id: string; ids: string[] }> => {
    const { id, sessions } = await post('', { ...wanted, ...more });
    const ids = sessions.map((session) => session.id);
    for (const each of ids) await server.reaches(each, 'running');
    return { id, ids };
  };
  const checkOf = async (id: string) => (await server.log.summary(id)).check;
  const hasChecked = (id: string, state = 'ended') =>
    until('the check', async () => (await checkOf(id))?.state === state, {
      state: async () => JSON.stringify(await checkOf(id)),
    });

  it('is known to the server: sessions of each model and run, listed, filtered, after a restart', async () => {
    const { id, ids } = await begin({ runs: 2, title: 'Sums' });
    const alone = await server.session();
    const models = async () => (await get(id)).sessions.map(({ model }) => model);
    expect(await models()).toEqual(['scripted:a', 'scripted:a', 'scripted:b', 'scripted:b']);
    await server.restart();
    expect(await models()).toHaveLength(4);
    const filtered = await server.json<SessionSummary[]>('GET', `/api/sessions?comparison=${id}`);
    expect(filtered.map((each) => each.id).toSorted()).toEqual(ids.toSorted());
    const listed = await server.json<Comparison[]>('GET', '/api/comparisons');
    expect(listed.map((each) => each.id)).toEqual([id]);
    expect((await server.log.summary(alone)).comparison).toBeNull();
    const forked = await server.json<SessionSummary>('POST', `/api/sessions/${ids[0]}/fork`, {
      seq: 1,
    });
    expect(forked.comparison).toBeNull();
  });

  it('starts several agents, each with its model', async () => {
    await server.app.get(AgentStore).putCustom('mine', {
      title: 'Mine',
      command: ['mine'],
      env: {},
      protocol: 'acp',
    });
    const agents = [belay('scripted:a'), { name: 'mine', model: 'openai:large' }];
    const { sessions } = await post('', { task: 'Fix the test', agents, runs: 2 });
    expect(sessions.map(({ agent, model }) => [agent?.name, model])).toEqual([
      [undefined, 'scripted:a'],
      [undefined, 'scripted:a'],
      ['mine', 'openai:large'],
      ['mine', 'openai:large'],
    ]);
    const mixed = [belay('scripted:a'), { name: 'mine', model: 'scripted:a' }];
    expect((await post('', { task: 'Fix', agents: mixed })).detail).toContain(
      'Mine calls its model itself',
    );
  });

  it.each([
    [{ models: ['scripted:a', 'scripted:a'] }, 'scripted:a is named twice'],
    [{ models: ['scripted:a'] }, 'compare 2 to 6'],
    [{ agent: { name: 'codex', login: true } }, 'one session at a time may use a sign-in'],
    [{ runs: 4 }, 'that makes 8 sessions'],
    [{ models: ['nothing'] }, 'provider:model'],
    [{ workspace: 'upload' }, 'upload it first'],
    [{ workspace: 'unknown' }, 'no workspace unknown'],
    [{ models: undefined, agents: [belay('scripted:a'), belay('scripted:a')] }, 'is named twice'],
    [{ models: undefined, agents: [belay('scripted:a')] }, 'that makes 1 session;'],
    [{ agents: [belay('scripted:a'), belay('scripted:b')] }, 'leave out `models`'],
    [
      { models: undefined, agent: { name: 'codex' }, agents: [belay('x:a'), belay('x:b')] },
      'leave out `agent`',
    ],
    [{ models: undefined }, 'that makes 0 sessions'],
    [
      { models: undefined, agents: [belay('scripted:a'), { name: 'codex', model: 'openai:a' }] },
      'Codex is not installed',
    ],
    [
      { models: undefined, agents: [belay('scripted:a'), { name: 'none', model: 'openai:a' }] },
      'none',
    ],
    [{ machine: 'mine' }, 'no machine mine'],
  ])('refuses %j before anything begins', async (more, sentence) => {
    const before = (await server.log.summaries()).length;
    const refused = await post('', { ...wanted, ...more });
    expect(refused.detail).toContain(sentence);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect((await server.log.summaries()).length).toBe(before);
  });

  it('checks what is made on machines with containers, and refuses to on bare ones', async () => {
    const known = (name: string) => ({ name, kind: name }) as StoredMachine;
    const named = jest.spyOn(server.app.get(Machines), 'connectedNamed').mockImplementation(known);
    const refused = await post('', { ...wanted, machine: 'bare', check: 'true' });
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.detail).toContain('Leave out `check` or `machine`');
    expect((await post('', { ...wanted, machine: 'container', check: 'true' })).failed).toEqual([]);
    named.mockRestore();
  });

  it('begins nothing when one model cannot be called, and names one that fails later', async () => {
    const noKey = new AppError('invalid_input', 'There is no key for b.');
    const before = (await server.log.summaries()).length;
    server.models.choose = (name) =>
      name === 'scripted:b' ? Promise.reject(noKey) : Promise.resolve();
    expect(await post('', wanted)).toMatchObject({ status: 400, detail: noKey.message });
    expect((await server.log.summaries()).length).toBe(before);
    let asked = 0;
    server.models.choose = (name) =>
      name === 'scripted:b' && ++asked > 1 ? Promise.reject(noKey) : Promise.resolve();
    const begun = await post('', wanted);
    expect(begun.sessions).toHaveLength(1);
    expect(begun.failed).toEqual([{ agent: 'belay', model: 'scripted:b', error: noKey.message }]);
    expect((await get(begun.id)).failed).toEqual(begun.failed);
  });

  it('one upload is for all of them', async () => {
    const headers = { 'content-type': 'application/x-tar' };
    const init = { method: 'POST', body: tarOfFile('shared'), headers };
    const { workspace } = (await (await server.fetch('/api/workspaces', init)).json()) as {
      workspace: string;
    };
    const { ids } = await begin({ workspace });
    for (const id of ids) expect(server.sandboxes.agents.get(id)?.files).toBe(tarOfFile('shared'));
  });

  it('keeps one: stops and archives the others, and takes that back', async () => {
    const { id, ids } = await begin();
    const [one = '', other = ''] = ids;
    expect(await post(`/${id}/keep`, { session: 'x' })).toMatchObject({ status: 404 });
    const { kept } = await post(`/${id}/keep`, { session: one });
    expect(kept).toEqual({
      session: one,
      others: [{ session: other, stopped: true, archived: true }],
    });
    expect(await server.log.summary(other)).toMatchObject({ state: 'stopped', archived: true });
    expect(await server.log.summary(one)).toMatchObject({ state: 'running', archived: false });
    expect(await post(`/${id}/keep`, { session: other })).toMatchObject({ status: 409 });
    await server.restart();
    expect((await post(`/${id}/undo`)).kept).toBeNull();
    await server.reaches(other, 'running');
    expect(await server.log.summary(other)).toMatchObject({ archived: false });
    expect(await post(`/${id}/undo`)).toMatchObject({ status: 409 });
  });

  it('is there for those who see all of its sessions, and is gone with the last', async () => {
    const { id, ids } = await begin();
    const [one = '', other = ''] = ids;
    const token = async (sessions: string[]) =>
      (
        await server.json<MadeToken>('POST', '/api/tokens', {
          label: 'x',
          scope: 'operate',
          sessions,
        })
      ).token;
    const statusFor = async (sessions: string[], path = '', init = {}) => {
      const options = { token: await token(sessions), ...init };
      const answer = await server.fetch(`/api/comparisons/${id}${path}`, options);
      await answer.text();
      return answer.status;
    };
    const keep = {
      method: 'POST',
      body: JSON.stringify({ session: one }),
      headers: { 'content-type': 'application/json' },
    };
    expect(await statusFor([one])).toBe(404);
    expect(await statusFor([one], '/keep', keep)).toBe(404);
    expect(await statusFor([one, other])).toBe(200);
    expect(await statusFor([one, other], '/keep', keep)).toBe(200);
    for (const each of ids) await server.json('DELETE', `/api/sessions/${each}`);
    expect((await get(id)).status).toBe(404);
  });

  describe('the check command', () => {
    it('is run at the end, by the server; the agent cannot say how it went', async () => {
      const ran: string[] = [];
      server.sandboxes.runCheck = async (session, command) => {
        ran.push(`${session} ${command}`);
        return { exitCode: 3, output: 'no\u001b[2J', seconds: 1 };
      };
      const { id, ids } = await begin({ check: ' npm test ' });
      const [one = '', other = ''] = ids;
      expect(await checkOf(one)).toMatchObject({ state: 'waiting', command: 'npm test' });
      const forged = { state: 'ended', command: 'npm test', exitCode: 0, output: '' };
      await expect(
        server.sandboxes.says(server.log, one, { action: 'check', args: forged }),
      ).rejects.toMatchObject({ code: 'forbidden' });
      server.sandboxes.agents.get(one)!.n -= 1;
      await server.sandboxes.finishes(server.log, one);
      await hasChecked(one);
      const check = await checkOf(one);
      expect(check).toMatchObject({ exitCode: 3, seconds: 1 });
      const [event] = await server.log.read(one, { after: (check?.seq ?? 0) - 1, limit: 1 });
      expect(event).toMatchObject({ source: 'server', args: { exitCode: 3 } });
      expect(event?.args['output']).not.toContain('\u001b');
      expect(await checkOf(other)).toMatchObject({ state: 'waiting', exitCode: null });
      await server.json('POST', `/api/sessions/${other}/stop`, {});
      expect(ran).toEqual([`${one} npm test`]);
      // Again by the user, and anew once the session has worked again.
      server.sandboxes.runCheck = async () => ({ exitCode: 0, output: '', seconds: 1 });
      expect((await server.json('POST', `/api/sessions/${one}/check`, {})).status).toBe(204);
      await until('it passes', async () => (await checkOf(one))?.exitCode === 0);
      await server.json('POST', `/api/sessions/${one}/messages`, { text: 'More' });
      await server.reaches(one, 'running');
      expect(await checkOf(one)).toMatchObject({ state: 'waiting', exitCode: null });
      expect((await server.json('POST', `/api/sessions/${one}/check`, {})).status).toBe(409);
      await post(`/${id}/keep`, { session: one });
    });

    it('holds its sandbox until it has ended, and runs again after a restart of the server', async () => {
      await server.restart({ BELAY_MAX_SANDBOXES: '1' });
      for (const { id } of await server.log.summaries())
        await server.json('DELETE', `/api/sessions/${id}`);
      const running = Promise.withResolvers<AbortSignal>();
      server.sandboxes.runCheck = (_session, _command, signal) => {
        running.resolve(signal);
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        });
      };
      const { sessions } = await post('', { ...wanted, check: 'true' });
      const [one, other] = sessions.map(({ id }) => id) as [string, string];
      await server.reaches(one, 'running');
      await server.sandboxes.finishes(server.log, one);
      await running.promise;
      expect(await server.log.summary(other)).toMatchObject({ state: 'starting' });
      expect(server.sandboxes.agents.has(one)).toBe(true);
      server.sandboxes.runCheck = async () => ({ exitCode: 0, output: '', seconds: 0 });
      await server.restart({ BELAY_MAX_SANDBOXES: '1' });
      expect((await running.promise).aborted).toBe(true);
      await hasChecked(one);
      await server.reaches(other, 'running');
    });

    it('that cannot be run says why', async () => {
      server.sandboxes.runCheck = () =>
        Promise.reject(new AppError('timeout', 'The check took longer than 10 minutes.'));
      await server.restart();
      const { ids } = await begin({ check: 'sleep 1000' });
      await server.sandboxes.finishes(server.log, ids[0] ?? '');
      await hasChecked(ids[0] ?? '', 'failed');
      expect(await checkOf(ids[0] ?? '')).toMatchObject({
        exitCode: null,
        reason: 'The check took longer than 10 minutes.',
      });
    });
  });
});
