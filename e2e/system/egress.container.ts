import { isEvent, type Event } from '@belay/protocol';
import { describeSystem, run, script, start } from '@belay/testkit';

const connection = (verdict: string) => (event: Event) =>
  isEvent(event, 'egress') && event.args.verdict === verdict;

describeSystem('egress', (server) => {
  it('refuses what the profile does not name, the metadata address and the host itself', async () => {
    const get = (url: string) =>
      `curl -sS -o /dev/null -w '%{http_code} %{http_connect}\\n' ${url} 2>&1`;
    const model = script(server.data, [
      {
        calls: [
          run(
            [
              get('http://169.254.169.254/latest/meta-data/'),
              get(`${server.url}/health`),
              get('https://example.org/'),
            ].join('; '),
          ),
          run(
            'unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY; curl -sS --max-time 5 https://example.org 2>&1',
          ),
        ],
      },
      { expect: 'No host is open.', finish: 'tried' },
    ]);
    const session = await start(server, {
      task: 'Escape',
      model,
      egress: { profile: 'list', hosts: [] },
    });
    await session.finished();
    const outputs = session.events
      .filter((event) => isEvent(event, 'result'))
      .map((event) => JSON.stringify(event.args.output));
    expect(outputs[0]).toMatch(/403/);
    // Nothing listens on this port of the sandbox: its localhost is not the host’s.
    expect(outputs[0]).not.toMatch(/200/);
    expect(outputs[1]).toMatch(/Could not resolve|Couldn't connect|Failed to connect/);
    await session.event(connection('refused'));
    expect(session.events.some(connection('allowed'))).toBe(false);
    session.close();
  });

  it('turns a refused host into a question that can be answered', async () => {
    const model = script(server.data, [
      {
        calls: [
          run("curl -sS -o /dev/null -w '%{http_connect}' https://forbidden.example.org/ 2>&1"),
        ],
      },
      { expect: 'does not allow forbidden.example.org:443: No', finish: 'tried' },
    ]);
    const session = await start(server, {
      task: 'Ask',
      model,
      approvals: 'ask',
      egress: { profile: 'list', hosts: [] },
    });
    const command = await session.event((event) => event.action === 'approval');
    await server.client.sessions.answer(session.id, String(command.args.id), {
      verdict: 'approved',
    });
    const host = await session.event((event) => event.action === 'approval', command.seq);
    expect(host.args).toMatchObject({
      operation: 'egress',
      subject: 'forbidden.example.org:443',
      risk: 'network',
    });
    await server.client.sessions.answer(session.id, String(host.args.id), {
      verdict: 'rejected',
      reason: 'No.',
    });
    await session.finished();
    session.close();
  });
});
