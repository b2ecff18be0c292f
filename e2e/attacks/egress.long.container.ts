import { isEvent } from '@belay/protocol';
import { BelayServer, run, script, start, type Followed } from '@belay/testkit';
import { OutsideWorld } from '../system/outside-world.js';

const host = 'code.example.org';

describe('attacks: egress of a sandbox', () => {
  const outside = new OutsideWorld();
  let server: BelayServer;
  beforeAll(async () => {
    await outside.open([host]);
    outside.serve('index.html', 'A page from outside.');
    server = new BelayServer({ ...outside.environment, HOME: outside.files });
    await server.start();
  });
  afterAll(async () => {
    await server?.dispose();
    await outside.close();
  });

  const shell = async (session: Followed, command: string): Promise<string> => {
    const call = { command, wait: 120 };
    return (await server.client.sessions.call(session.id, 'terminal.run', call)).text;
  };

  it('is closed when the session ends, even while its programs still run', async () => {
    const loop = `for i in $(seq 300); do curl -sS http://${host}/index.html; sleep 0.2; done`;
    const model = script(server.data, [
      {
        calls: [
          run(
            `nohup sh -c '${loop}' >log.txt 2>&1 & until grep outside log.txt; do sleep 0.1; done`,
          ),
        ],
      },
      { expect: 'A page from outside', finish: 'left it running' },
    ]);
    const session = await start(server, {
      task: 'Leave a program',
      model,
      egress: { profile: 'list', hosts: [`${host}:80`] },
    });
    await session.finished();
    await session.until(
      () =>
        session.events.some(
          (event) =>
            isEvent(event, 'egress') && /has ended, so its sandbox/.test(event.args.reason ?? ''),
        ),
      'refusals after the end',
    );
    const before = outside.asked.length;
    const said = await shell(session, 'sleep 1; tail -n 1 log.txt');
    expect(said).toContain('has ended, so its sandbox opens no connections');
    expect(outside.asked).toHaveLength(before);
    session.close();
  });
});
