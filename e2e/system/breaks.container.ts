import { pause } from '@belay/testing';
import { isEvent, type Event } from '@belay/protocol';
import { containerOf, describeSystem, Followed, run, script, start } from '@belay/testkit';

const result = (event: Event) => isEvent(event, 'result');
const numbered = (session: Followed) => session.events.map((event) => event.seq);
const counted = (session: Followed) => session.events.map((_, index) => index + 1);

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
    expect(numbered(session)).toEqual(counted(session));
    expect(session.terminal().match(/^line \d/gm)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `line ${n}`),
    );
    session.close();
  });

  it('of the container is reported within 5 s, and a restart keeps the files', async () => {
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

  it('of the server by kill -9 leaves the agent working, and nothing is lost or repeated', async () => {
    const model = script(server.data, [
      { calls: [run('for i in $(seq 1 20); do echo step $i; sleep 0.2; done')] },
      { calls: [run('echo after')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Go on', model });
    await session.until(() => session.terminal().includes('step 4'), 'step 4');
    await server.end('SIGKILL');
    await pause(1_000, 'the agent works while no server is there');
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

  it('is not caused by a second start during the first', async () => {
    const model = script(server.data, [{ calls: [run('sleep 1')] }, { finish: 'done' }]);
    const session = await start(server, { task: 'Once', model });
    await expect(server.client.sessions.restart(session.id)).rejects.toMatchObject({
      code: 'conflict',
    });
    await session.finished();
    session.close();
  });
});
