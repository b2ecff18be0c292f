import { isEvent, resultOf } from '@belay/protocol';
import { describeSystem, run, script, start } from '@belay/testkit';

const node = (source: string) => `/opt/belay/node -e '${source}'`;
const serve = node(`require("node:http").createServer((asked, answer) => {
  answer.end("hello", () => asked.url === "/end" && process.exit(7));
}).listen(8123)`);
const get = (path: string) =>
  run(node(`fetch("http://127.0.0.1:8123${path}").then((a) => a.text()).then(console.log)`));
const read = { operation: 'terminal.read', input: {} };
const list = { operation: 'terminal.list', input: {} };

describeSystem('the terminal of a model', (server) => {
  it('waits exactly for a server, shows it as running, and reports its end', async () => {
    const dying = { background: true, until: { port: 8124 }, wait: 50 };
    const model = script(server.data, [
      { calls: [run('sleep 1; exit 3', dying)] },
      {
        expect: '"exitCode":3.*"happened":"end"',
        calls: [run(serve, { background: true, until: { port: 8123 } })],
      },
      { expect: '"status":"background".*"happened":"port"', calls: [get('/'), read] },
      { expect: 'hello.*"status":"background"', calls: [get('/end'), run('sleep 2; (exit 4)')] },
      { calls: [list] },
      { expect: '"background":.*"exitCode":7', finish: 'served' },
    ]);
    const session = await start(server, { task: 'Serve', model });
    await session.finished();
    const ends = session.events.filter((event) => isEvent(event, 'exit'));
    expect(ends).toMatchObject([
      { source: 'agent', args: { terminal: 'main', status: 'exited', exitCode: 7 } },
    ]);
    session.close();
  });

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
