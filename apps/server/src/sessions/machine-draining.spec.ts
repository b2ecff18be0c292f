import { Readable } from 'node:stream';
import { AppError, isEvent, newEvent, type Machine, type SessionSummary } from '@belay/protocol';
import { itLong, until } from '@belay/testing';
import { StepCopies } from '../logs/step-copies.js';
import { joinMachine, runOnMachines } from '../testing/joined-machine.js';
import { TestServer } from '../testing/server.js';

const commit = (n: number) => `${n}`.repeat(40);

describe('draining a machine', () => {
  let server: TestServer;
  let ends: (() => Promise<void>)[];
  const start = async (env = {}) => {
    server = await new TestServer().start({ BELAY_MAX_SANDBOXES: '9', ...env });
    await connect();
  };
  /** The machine `box`, and fake sandboxes that copy a step when they are asked to. */
  const connect = async (kind: 'container' | 'bare' = 'container') => {
    runOnMachines(server);
    const box = await joinMachine(server, 'box', { sandboxes: 9, kind });
    ends = [box.close];
    server.sandboxes.flush = copy;
  };
  const copy = async (session: string) => {
    const copies = server.app.get(StepCopies);
    const { next: n } = await copies.stored(session);
    const part = { kind: 'steps' as const, n, after: 0, commit: commit(1) };
    await copies.store(session, part, Readable.from([Buffer.from('part')]));
  };
  afterEach(async () => {
    for (const end of ends) await end();
    await server.close();
  });

  const on = (more = {}) => server.session({ machine: 'box', ...more });
  const step = (session: string, n = 1, parent: string | null = commit(0)) =>
    server.log.append(session, [
      newEvent('agent', 'commit', {
        args: { commit: commit(n), parent, files: [] },
        message: 'Step.',
      }),
    ]);
  const change = (draining: boolean) =>
    server.json<Machine>('PATCH', '/api/machines/box', { draining });
  const machine = async () => (await server.json<Machine[]>('GET', '/api/machines'))[0]!;
  /** The moves, once all are over. */
  const drained = async () => {
    expect(await change(true)).toMatchObject({ status: 200, draining: true });
    const over = async () => (await machine()).moves.every(({ state }) => state !== 'moving');
    await until('all moves', over);
    return (await machine()).moves;
  };
  const summary = (id: string) => server.log.summary(id);

  it('moves its sessions as they are, refuses new ones until it is used again', async () => {
    await start();
    const [running, paused, ended, asking] = [await on(), await on(), await on(), await on()];
    await step(running);
    await server.reaches(asking, 'running');
    const ask = { source: 'agent', action: 'ask', args: { question: 'Which?' } } as const;
    await server.log.append(asking, [{ ...ask, message: 'Which?', id: 'a' }]);
    await server.json('POST', `/api/sessions/${paused}/pause`, {});
    await server.sandboxes.finishes(server.log, ended);
    const moves = await drained();
    expect(moves).toHaveLength(4);
    expect(moves.map(({ state }) => state)).toEqual(['moved', 'moved', 'moved', 'moved']);
    await server.reaches(running, 'running');
    await server.reaches(asking, 'waiting');
    await until('they run', () => server.sandboxes.starts.length === 7);
    expect(await summary(running)).toMatchObject({ state: 'running', machine: null });
    expect(await summary(paused)).toMatchObject({ state: 'paused', machine: null });
    expect(await summary(asking)).toMatchObject({ question: 'Which?', machine: null });
    expect(await summary(ended)).toMatchObject({ state: 'finished' });
    expect(server.sandboxes.agents.has(ended)).toBe(false);
    const placed = (await server.log.read(running, { after: 0 })).findLast((event) =>
      isEvent(event, 'placed'),
    );
    expect(placed?.message).toBe('The session runs in a sandbox of the server.');
    expect((await machine()).moves).toContainEqual({
      session: running,
      state: 'moved',
      detail: 'It runs in a sandbox of the server.',
    });
    const asked = { task: 'x', model: 'scripted:x', machine: 'box' };
    expect(await server.json('POST', '/api/sessions', asked)).toMatchObject({
      status: 503,
      detail: expect.stringMatching(/^The machine box is being drained: .*belay machines use box/),
    });
    expect(await change(false)).toMatchObject({ draining: false, moves: [] });
    await on();
  });

  it('keeps what cannot move running there, and says why; it can be repeated', async () => {
    await start();
    const [whole, late, uncopied] = [await on(), await on(), await on()];
    const untouched = await on();
    await step(untouched, 3, null);
    await step(late, 2);
    const full = new AppError('limit_reached', 'The copies have reached their limit.');
    server.sandboxes.flush = (session) => {
      if (session === uncopied) return Promise.reject(full);
      return session === untouched ? Promise.resolve() : copy(session);
    };
    const moves = await drained();
    const told = Object.fromEntries(moves.map((move) => [move.session, move]));
    for (const id of [whole, untouched]) expect(told[id]).toMatchObject({ state: 'moved' });
    expect(told[late]).toMatchObject({
      state: 'kept',
      detail: 'The server has no copy of its last step.',
    });
    expect(told[uncopied]).toMatchObject({ state: 'kept', detail: full.message });
    for (const id of [late, uncopied]) {
      expect(server.sandboxes.stopped).not.toContain(id);
      expect(await summary(id)).toMatchObject({ state: 'running', machine: { name: 'box' } });
    }
    server.sandboxes.flush = copy;
    const again = await drained();
    expect(again.find(({ session }) => session === uncopied)).toMatchObject({ state: 'moved' });
    expect(server.sandboxes.starts.filter(({ session }) => session === whole)).toHaveLength(2);
    // One that ends there does not begin anew without what it did last.
    await server.json('POST', `/api/sessions/${late}/stop`, {});
    await until('its end', () => !server.sandboxes.agents.has(late));
    await server.json('POST', `/api/sessions/${late}/restart`, {});
    await server.reaches(late, 'failed');
    expect((await summary(late)).reason).toMatch(/^The machine box is being drained, and this/);
    await change(false);
    await server.json('POST', `/api/sessions/${late}/restart`, {});
    await server.reaches(late, 'running');
    expect(await summary(late)).toMatchObject({ machine: { name: 'box' } });
  });

  it('leaves sessions where nothing copies their files', async () => {
    await start({ BELAY_COPY_MB: '0' });
    const id = await on();
    server.sandboxes.flush = () => Promise.resolve();
    expect(await drained()).toEqual([
      { session: id, state: 'kept', detail: 'The server keeps no copies: BELAY_COPY_MB is 0.' },
    ]);
  });

  itLong(
    'says within seconds what it cannot reach, also when that goes away meanwhile',
    async () => {
      await start();
      const [lost, waiting] = [await on(), await on()];
      const state = jest.spyOn(server.sandboxes, 'state');
      state.mockImplementation((id) => (id === lost ? 'lost' : 'connected'));
      server.sandboxes.flush = () => new Promise(() => {});
      await change(true);
      const outcome = async (id: string) =>
        (await machine()).moves.find(({ session }) => session === id);
      const kept = (id: string) =>
        until('it is kept', async () => (await outcome(id))?.state === 'kept', {
          state: async () => JSON.stringify(await outcome(id)),
        });
      await kept(lost);
      expect(await outcome(lost)).toMatchObject({
        detail: 'Its agent is not connected, so its last step cannot be copied.',
      });
      expect(await outcome(waiting)).toMatchObject({ state: 'moving' });
      for (const end of ends.splice(0)) await end();
      await kept(waiting);
      expect(await outcome(waiting)).toMatchObject({
        detail: 'The machine is not connected, so nothing would end it there.',
      });
      expect(server.sandboxes.stopped).toEqual([]);
      state.mockRestore();
    },
  );

  it('goes on after the end of the server, which loses no session', async () => {
    await start();
    const [left, lost] = [await on(), await on()];
    for (const id of [left, lost]) await step(id).then(() => copy(id));
    server.sandboxes.flush = () => new Promise(() => {});
    await change(true);
    // It had stopped one, and written nothing more.
    server.sandboxes.agents.delete(left);
    for (const end of ends) await end();
    await server.restart();
    runOnMachines(server);
    server.sandboxes.flush = copy;
    server.sandboxes.lose(lost, 'Its machine was not connected for 300 s.');
    for (const id of [left, lost]) {
      await until('it runs elsewhere', async () => (await summary(id)).machine === null);
      await server.reaches(id, 'running');
      const starts = server.sandboxes.starts.filter(({ session }) => session === id);
      expect(starts.map(({ settings }) => settings.machine?.name)).toEqual(['box', undefined]);
    }
  });

  it('is for admins', async () => {
    await start();
    const init = { method: 'PATCH', body: '{"draining":true}', token: server.viewerToken };
    const headers = { 'content-type': 'application/json' };
    expect((await server.fetch('/api/machines/box', { ...init, headers })).status).toBe(403);
    const unknown = await server.json('PATCH', '/api/machines/nobody', { draining: true });
    expect(unknown).toMatchObject({ status: 404, detail: 'There is no machine nobody.' });
    expect(await server.json<SessionSummary>('GET', '/api/machines')).toMatchObject([
      { draining: false },
    ]);
  });
});
