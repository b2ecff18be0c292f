import { isEvent, type Event } from '@belay/protocol';
import { containerOf, describeSystem, idle, run, script, start } from '@belay/testkit';

const limit = (event: Event) => isEvent(event, 'limit');

describeSystem('limits:', (server) => {
  it('a budget of seconds ends the session in the middle of a long command, and the command with it', async () => {
    const model = script(server.data, [
      { calls: [run('echo begun; sleep 300; echo slept', { wait: 300 })] },
    ]);
    const session = await start(server, { task: 'Sleep', model, budgets: { seconds: 4 } });
    const end = await session.ended();
    expect(end.args).toMatchObject({ state: 'limited' });
    expect(session.events.find(limit)?.args).toMatchObject({ budget: 'seconds', limit: 4 });
    const began = Date.parse(session.events[0]?.time ?? '');
    expect(Date.parse(end.time) - began).toBeLessThan(60_000);
    expect(session.terminal()).not.toMatch(/^slept/m);
    session.close();
  });

  it('a budget of tokens ends the session', async () => {
    const turns = Array.from({ length: 10 }, (_, index) => ({
      calls: [run(`echo turn ${index}`)],
    }));
    const model = script(server.data, turns);
    const session = await start(server, { task: 'Count', model, budgets: { tokens: 1_000 } });
    expect((await session.ended()).args).toMatchObject({ state: 'limited' });
    const reached = session.events.find(limit)?.args;
    expect(reached?.budget).toBe('tokens');
    expect(reached?.used).toBeGreaterThanOrEqual(1_000);
    session.close();
  });

  it('a failure of the container is reported within 5 s, and a restart keeps the files', async () => {
    const model = script(server.data, [
      { calls: [{ operation: 'files.write', input: { path: 'kept.txt', content: 'kept\n' } }] },
      { calls: [run('sleep 300')] },
      { calls: [run('cat kept.txt')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Keep', model });
    await session.event((event) => event.action === 'terminal.run');
    const container = await containerOf(session.id);
    const ended = container.wait();
    await container.kill();
    await ended;
    const killed = Date.now();
    const failed = await session.state('failed');
    expect(Date.parse(failed.time) - killed).toBeLessThan(5_000);
    expect(String(failed.args.reason)).toMatch(/restart/i);
    await server.client.sessions.restart(session.id);
    const ran = await session.event(
      (event) => isEvent(event, 'result') && JSON.stringify(event.args.output).includes('kept'),
      failed.seq,
    );
    expect(ran.args).toMatchObject({ ok: true });
    await session.finished(failed.seq);
    session.close();
  });

  it('an agent that polls a command is not taken for one that repeats itself', async () => {
    const looks = Array.from({ length: 9 }, () => ({
      calls: [{ operation: 'terminal.read', input: { wait: 0.1 } }],
    }));
    const patient = script(server.data, [
      { calls: [run('sleep 3; echo over', { wait: 0.1 })] },
      ...looks,
      { finish: 'done' },
    ]);
    const waiting = await start(server, { task: 'Wait', model: patient });
    await waiting.finished();
    expect(waiting.events.some((event) => event.action === 'ask')).toBe(false);
    waiting.close();
  });
});

describeSystem(
  'a session without free capacity',
  (server) => {
    it('waits in the queue with a reason, then runs', async () => {
      const first = await idle(server);
      const model = script(server.data, [{ calls: [run('echo my turn')] }, { finish: 'done' }]);
      const second = await start(server, { task: 'Wait', model });
      const told = await second.event((event) => /free sandbox/.test(event.message));
      expect(told.args).toMatchObject({ state: 'starting' });
      expect(await server.client.sessions.get(second.id)).toMatchObject({
        state: 'starting',
        reason: expect.stringMatching(/free sandbox/),
      });
      await server.client.sessions.stop(first.id);
      await second.finished();
      await second.printed('my turn');
      first.close();
      second.close();
    });
  },
  { BELAY_MAX_SANDBOXES: '1' },
);
