import { isEvent, type Event } from '@belay/protocol';
import { describeSystem, run, script, start } from '@belay/testkit';

const connection = (verdict: string) => (event: Event) =>
  isEvent(event, 'egress') && event.args.verdict === verdict;

describeSystem('egress', (server) => {
  it('lets a real project install its packages, and logs the connections', async () => {
    const manifest = JSON.stringify({
      name: 'p',
      version: '1.0.0',
      dependencies: { ms: '2.1.3', 'is-odd': '3.0.1' },
    });
    const model = script(server.data, [
      { calls: [{ operation: 'files.write', input: { path: 'package.json', content: manifest } }] },
      {
        calls: [
          run("npm install --no-audit --no-fund 2>&1; node -p \"require('ms')('2 days')\"", {
            wait: 110,
          }),
        ],
      },
      { expect: '172800000', finish: 'installed' },
    ]);
    const session = await start(server, { task: 'Install', model });
    await session.finished();
    expect(await session.event(connection('allowed'))).toMatchObject({ args: { port: 443 } });
    session.close();
  });
});
