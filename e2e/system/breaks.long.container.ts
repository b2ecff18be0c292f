import { describeSystem, run, script, start } from '@belay/testkit';
import { counting, endCounting } from './counting.js';
import { gaplessNumbers, eventNumbers } from './event-numbers.js';

describeSystem('a failure', (server) => {
  it('of the viewer’s connection, before or after the agent is up, loses and repeats nothing', async () => {
    const model = script(server.data, [
      { calls: [run('for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.2; done')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Count', model });
    session.close(); // before the agent is up
    session.follow();
    await session.until(() => session.terminal().includes('line 3'), 'line 3');
    session.close(); // while the agent works
    session.follow();
    await session.ended();
    await session.until(() => session.terminal().includes('line 8'), 'line 8');
    expect(eventNumbers(session)).toEqual(gaplessNumbers(session));
    expect(session.terminal().match(/^line \d/gm)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `line ${n}`),
    );
    session.close();
  });

  it('is not caused by a second start during the first', async () => {
    const model = script(server.data, [{ calls: [counting] }, { finish: 'done' }]);
    const session = await start(server, { task: 'Once', model });
    await expect(server.client.sessions.restart(session.id)).rejects.toMatchObject({
      code: 'conflict',
    });
    await endCounting(server, session);
    await session.finished();
    session.close();
  });
});
