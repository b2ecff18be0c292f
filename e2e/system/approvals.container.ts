import { isEvent } from '@belay/protocol';
import { eventually } from '@belay/testing';
import { describeSystem, run, script, start } from '@belay/testkit';

describeSystem('approvals', (server) => {
  it('wait for the user, who allows once, always, or denies with a reason', async () => {
    const model = script(server.data, [
      { calls: [run('echo one')] },
      { calls: [run('echo two')] },
      { calls: [run('echo two')] },
      { calls: [run('echo three')] },
      { expect: 'Use printf', finish: 'done' },
    ]);
    const session = await start(server, { task: 'Echo', model, approvals: 'ask' });
    const question = (subject: string, after = 0) =>
      session.event((event) => isEvent(event, 'approval') && event.args.subject === subject, after);
    const client = server.client.sessions;
    const one = await question('echo one');
    await session.state('waiting');
    expect((await client.get(session.id)).waitingFor).toMatchObject([
      { subject: 'echo one', risk: 'execute' },
    ]);
    await client.answer(session.id, String(one.args.id), { verdict: 'approved' });
    const two = await question('echo two');
    await client.answer(session.id, String(two.args.id), {
      verdict: 'approved',
      remember: { scope: 'session', operation: 'terminal.run', pattern: 'echo two', expires: null },
    });
    const three = await question('echo three', two.seq);
    await client.answer(session.id, String(three.args.id), {
      verdict: 'rejected',
      reason: 'Use printf',
    });
    await session.finished();
    expect(session.terminal()).not.toContain('three');
    expect(session.events.filter((event) => event.action === 'approval')).toHaveLength(3);
    session.close();
  });

  it('still wait after a kill and restart of the server', async () => {
    const model = script(server.data, [{ calls: [run('echo patient')] }, { finish: 'done' }]);
    const session = await start(server, { task: 'Echo', model, approvals: 'ask' });
    const asked = await session.event((event) => event.action === 'approval');
    await session.state('waiting');
    await server.end('SIGKILL');
    await server.start();
    session.follow();
    const waiting = { state: 'waiting', waitingFor: [{ subject: 'echo patient' }] };
    await eventually(async () =>
      expect(await server.client.sessions.get(session.id)).toMatchObject(waiting),
    );
    await server.client.sessions.answer(session.id, String(asked.args.id), { verdict: 'approved' });
    await session.finished();
    expect(session.events.filter((event) => event.action === 'approval')).toHaveLength(1);
    session.close();
  });
});
