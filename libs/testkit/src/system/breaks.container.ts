import { isFact, type Event } from '@belay/protocol';
import { containerOf } from '../engine.js';
import { describeSystem } from '../describe-system.js';
import { start, Followed } from '../follow.js';
import { run, script } from '../script.js';

const result = (event: Event) => isFact(event, 'result');
const numbered = (session: Followed) => session.events.map((event) => event.seq);
const counted = (session: Followed) => session.events.map((_, index) => index + 1);

describeSystem('a break', (server) => {
  it('of the viewer, before or after the agent is up, loses and repeats nothing', async () => {
    const model = script(server.data, [
      { calls: [run('for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.2; done')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Count', model });
    session.close(); // gone before the agent is up
    session.follow();
    await session.until(() => session.terminal().includes('line 3'), 'line 3');
    session.close(); // gone while it works
    session.follow();
    await session.ended();
    await session.until(() => session.terminal().includes('line 8'), 'line 8');
    expect(numbered(session)).toEqual(counted(session));
    expect(session.terminal().match(/^line \d/gm)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `line ${n}`),
    );
    session.close();
  });

  it('of the container is said within 5 s, and a restart goes on with the same files', async () => {
    const model = script(server.data, [
      { calls: [{ operation: 'files.write', input: { path: 'kept.txt', content: 'kept\n' } }] },
      { calls: [run('sleep 300')] },
      { calls: [run('cat kept.txt')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Keep', model });
    await session.event((event) => event.action === 'terminal.run');
    await (await containerOf(session.id)).kill();
    const killed = Date.now();
    const failed = await session.state('failed');
    expect(Date.now() - killed).toBeLessThan(5_000);
    expect(String(failed.args.reason)).toMatch(/restart/i);
    await server.client.sessions.restart(session.id);
    const ran = await session.event(
      (event) => isFact(event, 'result') && JSON.stringify(event.args.output).includes('kept'),
      failed.seq,
    );
    expect(ran.args).toMatchObject({ ok: true });
    await session.finished();
    session.close();
  });

  it('of the server by kill -9 leaves the agent working, and nothing is lost or doubled', async () => {
    const model = script(server.data, [
      { calls: [run('for i in $(seq 1 20); do echo step $i; sleep 0.2; done')] },
      { calls: [run('echo after')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Go on', model });
    await session.until(() => session.terminal().includes('step 4'), 'step 4');
    await server.end('SIGKILL');
    await new Promise((done) => setTimeout(done, 1_000)); // the agent works while no server is there
    await server.start();
    session.follow();
    await session.finished();
    await session.until(() => session.terminal().includes('after'), 'the last output');
    expect(numbered(session)).toEqual(counted(session));
    const steps = session.terminal().match(/^step \d+/gm);
    expect(steps).toEqual(Array.from({ length: 20 }, (_, index) => `step ${index + 1}`));
    expect(session.events.filter(result)).toHaveLength(3);
    session.close();
  });

  it('is not made by a second start while the first is starting', async () => {
    const model = script(server.data, [{ calls: [run('sleep 1')] }, { finish: 'done' }]);
    const session = await start(server, { task: 'Once', model });
    await expect(server.client.sessions.restart(session.id)).rejects.toMatchObject({
      code: 'conflict',
    });
    await session.finished();
    session.close();
  });
});
