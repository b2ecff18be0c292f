import { isFact } from '@belay/protocol';
import { describeSystem } from '../describe-system.js';
import { start } from '../follow.js';
import { run, script } from '../script.js';

describeSystem('approvals', (server) => {
  it('wait for a person; once, always and no with a reason each do what they say', async () => {
    const model = script(server.data, [
      { calls: [run('echo one')] },
      { calls: [run('echo two')] },
      { calls: [run('echo two')] },
      { calls: [run('echo three')] },
      { expect: 'Use printf', finish: 'done' },
    ]);
    const session = await start(server, { task: 'Echo', model, approvals: 'ask' });
    const question = (subject: string, after = 0) =>
      session.event((event) => isFact(event, 'approval') && event.args.subject === subject, after);
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

  it('hold a call back two seconds in mode delay, and run it unless it is stopped', async () => {
    const model = script(server.data, [
      { calls: [run('echo first')] },
      { calls: [run('echo second')] },
      { expect: 'not now', finish: 'done' },
    ]);
    const session = await start(server, { task: 'Echo', model, approvals: 'delay' });
    const first = await session.event((event) => event.action === 'approval');
    const result = await session.event((event) => isFact(event, 'result'));
    expect(Date.parse(result.time) - Date.parse(first.time)).toBeGreaterThanOrEqual(1_900);
    const second = await session.event((event) => event.action === 'approval', first.seq);
    await server.client.sessions.answer(session.id, String(second.args.id), {
      verdict: 'rejected',
      reason: 'not now',
    });
    await session.ended();
    expect(session.terminal()).toContain('first');
    expect(session.terminal()).not.toContain('second');
    session.close();
  });

  it('still wait after the server was killed and started again', async () => {
    const model = script(server.data, [{ calls: [run('echo patient')] }, { finish: 'done' }]);
    const session = await start(server, { task: 'Echo', model, approvals: 'ask' });
    const asked = await session.event((event) => event.action === 'approval');
    await server.end('SIGKILL');
    await server.start();
    session.follow();
    const summary = await server.client.sessions.get(session.id);
    expect(summary).toMatchObject({ state: 'waiting', waitingFor: [{ subject: 'echo patient' }] });
    await server.client.sessions.answer(session.id, String(asked.args.id), { verdict: 'approved' });
    await session.finished();
    expect(session.events.filter((event) => event.action === 'approval')).toHaveLength(1);
    session.close();
  });
});
