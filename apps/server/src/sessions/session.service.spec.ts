import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AppError, newEvent, newMessage, type SessionSummary } from '@belay/protocol';
import { itLong, until } from '@belay/testing';
import { sql } from 'kysely';
import { Database } from '../storage/database.js';
import { TestServer } from '../testing/server.js';
import { ownerCaller } from '../access/caller.js';
import { Exports } from './exports.js';
import { SessionService } from './session.service.js';
import { tarOfFile } from '../testing/fake-sandboxes.js';

describe('sessions', () => {
  const server = new TestServer();
  const environment = { BELAY_MAX_SANDBOXES: '2', BELAY_MAX_WORKSPACE_MB: '2' };
  beforeAll(() => server.start(environment));
  afterEach(() => server.forgetSessions());
  afterAll(() => server.close());

  const summary = (id: string) => server.json<SessionSummary>('GET', `/api/sessions/${id}`);
  const says = (id: string, action: string, args: object, call?: string) =>
    server.sandboxes.says(server.log, id, { action, args, ...(call && { id: call }) });
  const finish = (id: string) => server.sandboxes.finishes(server.log, id, 'Done.');
  const agent = (id: string) => server.sandboxes.agents.get(id)!;
  const actions = async (id: string) =>
    (await server.log.read(id, { after: 0 })).map(({ action }) => action);

  it('begin with their settings, and run', async () => {
    const id = await server.session({ task: 'Fix the sum\nplease', tags: ['a'] });
    expect(await summary(id)).toMatchObject({
      state: 'running',
      title: 'Fix the sum',
      tags: ['a'],
    });
    expect(agent(id).startPayload).toMatchObject({
      session: id,
      epoch: 1,
      settings: { tags: ['a'] },
    });
    expect(agent(id).files).toBeUndefined();
  });

  it('leave nothing behind when the model or the workspace is wrong', async () => {
    server.models.choose = () => Promise.reject(new AppError('unavailable', 'Set OPENAI_API_KEY.'));
    const body = { task: 'x', model: 'openai:gpt' };
    expect(await server.json('POST', '/api/sessions', body)).toMatchObject({
      status: 503,
      code: 'unavailable',
      detail: 'Set OPENAI_API_KEY.',
    });
    server.models.choose = () => Promise.resolve();
    expect(
      await server.json('POST', '/api/sessions', { ...body, workspace: 'none' }),
    ).toMatchObject({ status: 404, detail: expect.stringContaining('none') });
    expect(
      await server.json('POST', '/api/sessions', { ...body, workspace: 'example:../x' }),
    ).toMatchObject({ status: 404 });
    expect(await server.json('GET', '/api/sessions')).toEqual([]);
  });

  it('fail with the sentence when their sandbox cannot start, and can be restarted', async () => {
    server.sandboxes.failure = new AppError('not_found', 'There is no image x:1.');
    const { id } = await server.json<{ id: string }>('POST', '/api/sessions', {
      task: 'x',
      model: 'scripted:x',
      image: 'x:1',
    });
    await server.reaches(id, 'failed');
    expect(await summary(id)).toMatchObject({ reason: 'There is no image x:1.' });
    expect((await server.json('POST', `/api/sessions/${id}/restart`, {})).status).toBe(204);
    await server.reaches(id, 'running');
  });

  it('get the uploaded workspace at their first start only', async () => {
    const response = await server.fetch('/api/workspaces', {
      method: 'POST',
      body: tarOfFile('hello'),
      headers: { 'content-type': 'application/x-tar' },
    });
    const { workspace } = (await response.json()) as { workspace: string };
    const id = await server.session({ workspace });
    expect(agent(id).files).toBe(tarOfFile('hello'));
    await says(id, 'think', { thought: 'x' });
    await finish(id);
    await server.json('POST', `/api/sessions/${id}/restart`, {});
    await server.reaches(id, 'running');
    expect(agent(id).startPayload.epoch).toBe(2);
    expect(agent(id).files).toBeUndefined();
    expect(agent(id).startPayload.events.map(({ action }) => action)).toContain('think');
  });

  it('pause and resume, and notify the agent', async () => {
    const id = await server.session();
    await server.json('POST', `/api/sessions/${id}/pause`, {});
    expect((await summary(id)).state).toBe('paused');
    await server.json('POST', `/api/sessions/${id}/resume`, {});
    expect((await summary(id)).state).toBe('running');
    await until('the agent receives it', () =>
      agent(id).received.some((event) => event.action === 'resume'),
    );
    expect(agent(id).received.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['pause', 'resume']),
    );
    await finish(id);
    expect(await server.json('POST', `/api/sessions/${id}/pause`, {})).toMatchObject({
      status: 409,
    });
  });

  it('stop at once, and keep the patch for when the sandbox is gone', async () => {
    const id = await server.session();
    await server.json('POST', `/api/sessions/${id}/stop`, {});
    expect((await summary(id)).state).toBe('stopped');
    await until('the container ends', () => server.sandboxes.stopped.includes(id));
    const patch = await server.fetch(`/api/sessions/${id}/patch`);
    expect(await patch.text()).toBe(`patch of ${id} at the end`);
    expect(server.sandboxes.agents.has(id)).toBe(false);
    expect((await server.json('POST', `/api/sessions/${id}/stop`, {})).status).toBe(204);
    expect((await actions(id)).filter((action) => action === 'stop')).toHaveLength(1);
  });

  it('send their results as downloads, whatever is in them', async () => {
    const id = await server.session();
    const types = {
      patch: 'text/x-patch; charset=utf-8',
      'export?format=zip': 'application/zip',
      'export?format=bundle': 'application/x-git-bundle',
      'export?format=tar': 'application/x-tar',
    };
    for (const [path, type] of Object.entries(types)) {
      const { headers } = await server.fetch(`/api/sessions/${id}/${path}`);
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.-]+"$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain('default-src');
    }
  });

  itLong('keep no patch of an agent that never ends it', async () => {
    const id = await server.session();
    let sent = 0;
    server.sandboxes.patch = function* () {
      for (; sent < 1e9; sent += 1 << 16) yield Buffer.alloc(1 << 16);
    };
    const response = await server.fetch(`/api/sessions/${id}/patch`);
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(sent).toBeLessThan(5e6);
    server.sandboxes.patch = undefined;
    const again = await server.fetch(`/api/sessions/${id}/patch`);
    expect(await again.text()).toBe(`patch of ${id} at the end`);
  });

  describe('whose patch is being kept', () => {
    const patches = () => readdir(join(server.data, 'patches')).catch(() => []);

    const unending = () => new Readable({ read: () => undefined });

    /** Resolves when the patch of a session that has ended is being written. */
    const beginKeeping = async (patch: Readable) => {
      const id = await server.session();
      server.sandboxes.patch = () => patch;
      await finish(id);
      await until('its patch is being written', async () =>
        (await patches()).some((name) => name.startsWith(id)),
      );
      server.sandboxes.patch = undefined;
      return id;
    };

    itLong('keep it before the server ends, or nothing of it', async () => {
      const patch = unending();
      const kept = await beginKeeping(patch);
      await beginKeeping(unending());
      const restarted = server.restart(environment);
      patch.push('the patch');
      patch.push(null);
      await restarted;
      expect(await patches()).toEqual([`${kept}.patch`]);
    });

    it('delay neither their deletion nor the end of the server when the agent does not answer', async () => {
      const real = server.sandboxes.agent.bind(server.sandboxes);
      const asked = new Set<string>();
      const silent = jest.spyOn(server.sandboxes, 'agent').mockImplementation((id) => {
        const open = () => new Promise<never>(() => void asked.add(id));
        const agent = real(id);
        return agent && { ...agent, open };
      });
      const ids = [await server.session(), await server.session()];
      for (const id of ids) await finish(id);
      await until('both patches are asked for', () => asked.size === 2);
      await server.json('DELETE', `/api/sessions/${ids[0]}`);
      await server.restart(environment);
      silent.mockRestore();
      expect(await patches()).toEqual([]);
    });

    itLong('keep none once the server is ending', async () => {
      const id = await server.session();
      const exports = server.app.get(Exports);
      await exports.onModuleDestroy();
      await exports.keepPatch(id);
      expect(await patches()).not.toContain(`${id}.patch`);
      await server.restart(environment);
    });

    it('are deleted without it', async () => {
      const patch = unending();
      const id = await beginKeeping(patch);
      await server.json('DELETE', `/api/sessions/${id}`);
      expect(patch.destroyed).toBe(true);
      expect(await patches()).toEqual([]);
    });
  });

  it('leave a viewer the patch of their end, and no way to start a container', async () => {
    const id = await server.session();
    await server.json('POST', `/api/sessions/${id}/stop`, {});
    await until('the container ends', () => server.sandboxes.stopped.includes(id));
    const starts = server.sandboxes.starts.length;
    const get = (path: string, token: string) =>
      server.fetch(`/api/sessions/${id}/${path}`, { token });
    expect(await (await get('patch', server.viewerToken)).text()).toContain('patch of');
    for (const path of ['export?format=zip', 'export?format=patch&commit=1234567']) {
      const refused = await get(path, server.viewerToken);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({
        detail: expect.stringMatching(/only the user/),
      });
    }
    expect(server.sandboxes.starts).toHaveLength(starts);
    expect(await (await get('export?format=zip', server.token)).text()).toContain('zip of');
    expect(server.sandboxes.starts).toHaveLength(starts + 1);
    expect(await (await get('export?format=zip', server.viewerToken)).text()).toContain('zip of');
  });

  it('resume after a message to an ended session, in the same sandbox or a new one', async () => {
    const id = await server.session();
    await finish(id);
    expect((await summary(id)).state).toBe('finished');
    await server.json('POST', `/api/sessions/${id}/messages`, { text: 'And now the docs.' });
    await server.reaches(id, 'running');
    await until('the agent receives it', () =>
      agent(id).received.some((event) => event.action === 'message'),
    );
    expect(server.sandboxes.starts).toHaveLength(1);
    await server.json('POST', `/api/sessions/${id}/stop`, {});
    await until('the container ends', () => server.sandboxes.stopped.includes(id));
    await server.json('POST', `/api/sessions/${id}/messages`, { text: 'Once more.' });
    await server.reaches(id, 'running');
    expect(server.sandboxes.starts).toHaveLength(2);
    expect(agent(id).startPayload.events.at(-1)).toMatchObject({ action: 'message' });
  });

  it('wait in a queue that they can see, and start when a sandbox is free', async () => {
    const first = await server.session();
    await server.session();
    const body = { task: 'x', model: 'scripted:x' };
    const third = (await server.json<{ id: string }>('POST', '/api/sessions', body)).id;
    const fourth = (await server.json<{ id: string }>('POST', '/api/sessions', body)).id;
    const reason = (before: number) => `Waiting for a free sandbox (${before} ahead of it).`;
    await until('the queue', async () => (await summary(fourth)).reason === reason(1));
    expect(await summary(third)).toMatchObject({ state: 'starting', reason: reason(0) });
    await server.json('POST', `/api/sessions/${first}/stop`, {});
    await server.reaches(third, 'running');
    await until('it moves up', async () => (await summary(fourth)).reason === reason(0));
    await finish(third);
    await server.reaches(fourth, 'running');
    expect(server.sandboxes.stopped).toEqual([first, third]);
  });

  itLong('wait and try again when the sandboxes have no capacity after all', async () => {
    server.sandboxes.failure = new AppError('limit_reached', 'All sandboxes are taken.');
    const id = await server.session();
    expect(await actions(id)).toEqual(['start', 'state', 'state', 'state']);
  });

  it('fail within moments when their container dies, and begin again from the log', async () => {
    const id = await server.session();
    await says(id, 'think', { thought: 'x' });
    server.sandboxes.lose(id, 'The container was killed (exit code 137)');
    await server.reaches(id, 'failed');
    expect((await summary(id)).reason).toBe(
      'The container was killed (exit code 137). Restart the session to continue.',
    );
    await server.json('POST', `/api/sessions/${id}/restart`, {});
    await server.reaches(id, 'running');
  });

  it('are deleted with everything that is theirs', async () => {
    const id = await server.session();
    expect((await server.json('DELETE', `/api/sessions/${id}`)).status).toBe(204);
    expect(await summary(id)).toMatchObject({ status: 404, code: 'not_found' });
    expect(server.sandboxes.removed).toEqual([id]);
  });

  it('fork at any step, with the files as of that step', async () => {
    const id = await server.session();
    await says(id, 'think', { thought: 'one' });
    const commit = 'a'.repeat(40);
    const seq = await says(id, 'commit', { commit, parent: null, files: [] }, 'c');
    await says(id, 'think', { thought: 'two' });
    const fork = await server.json<SessionSummary>('POST', `/api/sessions/${id}/fork`, {
      seq,
      model: 'scripted:other',
      message: { text: 'Do it otherwise.' },
    });
    await server.reaches(fork.id, 'running');
    expect(fork).toMatchObject({ forkedFrom: { session: id, seq }, model: 'scripted:other' });
    expect(agent(fork.id).files).toContain(`tar of ${id} at ${commit}`);
    expect(await actions(fork.id)).toEqual([
      ...(await actions(id)).slice(0, seq),
      'fork',
      'start',
      'state',
      'message',
      'state',
    ]);
    const beyond = await server.json('POST', `/api/sessions/${id}/fork`, { seq: 9_999 });
    expect(beyond).toMatchObject({ status: 400, code: 'invalid_input' });
  });

  it('continue after a restart of the server; those without a sandbox report the loss', async () => {
    const alive = await server.session();
    const gone = await server.session();
    await server.app.close();
    server.sandboxes.agents.delete(gone);
    await server.start(environment);
    await server.reaches(gone, 'failed');
    expect((await summary(gone)).reason).toContain('Restart the session');
    expect((await summary(alive)).state).toBe('running');
    await says(alive, 'think', { thought: 'still here' });
  });

  it('take another model and network while they run, and refuse a model that there is not', async () => {
    const id = await server.session();
    await server.reaches(id, 'running');
    const sessions = server.app.get(SessionService);
    server.models.choose = () => Promise.reject(new AppError('unavailable', 'Set OPENAI_API_KEY.'));
    await expect(sessions.change(id, { model: 'openai:gpt' }, ownerCaller)).rejects.toThrow(
      'OPENAI_API_KEY',
    );
    server.models.choose = () => Promise.resolve();
    const model = 'scripted:example:fix-failing-test';
    await sessions.change(id, { model, egress: { profile: 'open' } }, ownerCaller);
    expect(await summary(id)).toMatchObject({ model, network: 'open' });
    expect((await server.log.settings(id)).egress).toEqual({ profile: 'open', hosts: [] });
  });

  it('resume with a budget that was raised just before the message', async () => {
    const id = await server.session({ budgets: { steps: 1 } });
    await server.json('POST', `/api/sessions/${id}/stop`, {});
    const sessions = server.app.get(SessionService);
    const { budgets } = await summary(id);
    await Promise.all([
      sessions.change(id, { budgets: { ...budgets, steps: 9 } }, ownerCaller),
      sessions.message(id, newMessage.parse({ text: 'Go on.' }), ownerCaller),
    ]);
    await server.reaches(id, 'running');
    expect((await summary(id)).budgets.steps).toBe(9);
    expect(agent(id).startPayload.settings.budgets.steps).toBe(9);
  });

  itLong(
    'stop on a full disk too, and say so at once and in their log when there is space',
    async () => {
      const id = await server.session();
      const { kysely } = server.app.get(Database);
      const pages = (count: number) =>
        sql`pragma max_page_count = ${sql.lit(count)}`.execute(kysely);
      await pages(1); // No less than it has already.
      for (const size of [100_000, 1_000, 1]) {
        const fill = newEvent('user', 'message', { args: { text: 'x'.repeat(size) }, message: '' });
        await until('the disk is full', () =>
          server.log.append(id, [fill]).then(
            () => false,
            () => true,
          ),
        );
      }
      const stopped = await server.fetch(`/api/sessions/${id}/stop`, { method: 'POST' });
      expect(stopped.ok).toBe(true);
      await until('its sandbox ends', () => !server.sandboxes.agents.has(id));
      expect(await summary(id)).toMatchObject({
        state: 'stopped',
        reason: expect.stringMatching(/^Stopped by the user\. The disk is full/) as string,
      });
      await pages(1_000_000);
      await until('the stop is stored', async () => (await actions(id)).includes('stop'));
      await server.reaches(id, 'stopped');
      expect(await summary(id)).toMatchObject({ state: 'stopped', reason: 'Stopped by the user.' });
    },
  );

  it('find words in all logs', async () => {
    const id = await server.session({ task: 'Fix the walking time' });
    await says(id, 'say', { text: 'The Naismith rule is off by one.', calls: [] });
    const found = await server.json<{ session: string; excerpt: string }[]>(
      'GET',
      '/api/search?q=naismith%20ru',
    );
    expect(found).toEqual([
      { session: id, seq: expect.any(Number), excerpt: expect.stringContaining('Naismith rule') },
    ]);
    expect(await server.json('GET', '/api/search?q=nothinglikeit')).toEqual([]);
    expect(await server.json('GET', '/api/search?q=%22%29%20OR%20*')).toEqual([]);
  });
});
