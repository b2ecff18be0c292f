import type { Followed } from '@belay/testkit';
import { describeGateway, expectNoKey, says } from './gateway-scene.js';

// gateway.long.container.ts sends it false tokens and requests.
describeGateway('attacks: the model gateway in a sandbox', (scene) => {
  const before = 129;
  const limit = before + 200;
  let session: Followed;
  beforeAll(async () => {
    session = await scene.open({ tokens: limit });
  });
  afterAll(() => session.close());

  it('gives no key away', async () => {
    await expectNoKey(session, await scene.tokenOf(session));
  });

  it('never spends more than one call above a budget, however many come at once', async () => {
    const { provider, server, run } = scene;
    provider.requests.length = 0;
    const usage = { input: 25, output: 10 };
    provider.answer(...Array.from({ length: 20 }, () => says({ text: 'Yes.', usage })));
    const body = JSON.stringify({
      model: 'local',
      stream: true,
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const ask = `curl -s -H "authorization: Bearer $OPENAI_API_KEY" -d '${body}' $OPENAI_BASE_URL/chat/completions`;
    await run(session, `for n in $(seq 20); do ${ask} & done; wait`);
    await session.state('limited');
    const { tokens, openRequests } = await server.client.sessions.get(session.id);
    expect(openRequests).toBe(0);
    expect(tokens).toBeGreaterThanOrEqual(limit);
    expect(tokens).toBeLessThan(limit + 35);
    expect(provider.requests).toHaveLength((tokens - before) / 35);
  });
});
