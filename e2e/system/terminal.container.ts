import { isEvent, resultOf } from '@belay/protocol';
import { describeSystem, run, script, start } from '@belay/testkit';

describeSystem('the terminal of a model', (server) => {
  it('stops waiting at once when the user steers, and calls that have not begun are not run', async () => {
    const write = { operation: 'files.write', input: { path: 'unwanted.txt', content: 'x' } };
    const model = script(server.data, [
      { calls: [run('echo begun; sleep 100', { wait: 100 }), write] },
      {
        expect: '"status":"running".*"happened":"message".*Not run: the user wrote',
        calls: [{ operation: 'terminal.interrupt', input: {} }],
      },
      { expect: '"status":"interrupted"', finish: 'stopped it' },
    ]);
    const session = await start(server, { task: 'Wait', model });
    await session.until(() => session.terminal().includes('begun'), 'the command');
    const wrote = Date.now();
    await server.client.sessions.message(session.id, { text: 'No need', delivery: 'steer' });
    await session.finished();
    expect(Date.now() - wrote).toBeLessThan(60_000);
    expect(session.events.some(({ action }) => action === 'files.write')).toBe(false);
    session.close();
  });

  it('measures a command without the wait for its approval', async () => {
    const model = script(server.data, [{ calls: [run('true')] }, { finish: 'done' }]);
    const session = await start(server, { task: 'Ask', model, approvals: 'delay' });
    await session.finished();
    const asked = session.events.find((event) => isEvent(event, 'approval'));
    const ran = session.events.find((event) => resultOf(event, 'terminal.run'));
    if (!asked || !ran || !isEvent(ran, 'result')) throw new Error(session.words());
    // The two seconds of the approval begin a little before its event.
    const passed = (Date.parse(ran.time) - Date.parse(asked.time)) / 1_000;
    expect(passed - ran.args.seconds).toBeGreaterThan(1);
    session.close();
  });
});
