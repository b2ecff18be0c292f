import { isEvent } from '@belay/protocol';
import { describeSystem, run, script, start } from '@belay/testkit';

const node = (source: string) => `/opt/belay/node -e '${source}'`;
const serve = node(`require("node:http").createServer((asked, answer) => {
  answer.end("hello", () => asked.url === "/end" && process.exit(7));
}).listen(8123)`);
const get = (path: string) =>
  run(node(`fetch("http://127.0.0.1:8123${path}").then((a) => a.text()).then(console.log)`));
const read = { operation: 'terminal.read', input: {} };
const list = { operation: 'terminal.list', input: {} };

describeSystem('the terminal of a model that serves', (server) => {
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
});
