import { pause } from '@belay/testing';
import { isEvent, type Event } from '@belay/protocol';
import { containerOf, describeSystem, run, script, start } from '@belay/testkit';
import { counted, numbered } from './event-numbers.js';

const result = (event: Event) => isEvent(event, 'result');

describeSystem('a failure', (server) => {
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
});
