import { isEvent } from '@belay/protocol';
import { describeSystem, run, script, start } from '@belay/testkit';

describeSystem('approvals', (server) => {
  it('delay a call for two seconds in mode delay, and run it unless it is stopped', async () => {
    const model = script(server.data, [
      { calls: [run('echo first')] },
      { calls: [run('echo second')] },
      { expect: 'not now', finish: 'done' },
    ]);
    const session = await start(server, { task: 'Echo', model, approvals: 'delay' });
    const first = await session.event((event) => event.action === 'approval');
    const result = await session.event((event) => isEvent(event, 'result'));
    expect(Date.parse(result.time) - Date.parse(first.time)).toBeGreaterThanOrEqual(1_900);
    const second = await session.event((event) => event.action === 'approval', first.seq);
    await server.client.sessions.answer(session.id, String(second.args.id), {
      verdict: 'rejected',
      reason: 'not now',
    });
    await session.ended();
    await session.printed('first');
    expect(session.terminal()).not.toContain('second');
    session.close();
  });
});
