import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeGateway, expectNoKey, key, says } from './gateway-scene.js';

const script = readFileSync(join(__dirname, 'gateway.mjs'), 'utf8');

describeGateway('attacks: false requests to the model gateway in a sandbox', (scene) => {
  it('takes only its own token and plain requests', async () => {
    const { provider, server, open, run, tokenOf } = scene;
    const [session, other] = [await open(), await open()];
    const stolen = await tokenOf(other);
    const own = await tokenOf(session);
    expect(own).not.toBe(stolen);
    provider.answer(...Array.from({ length: 4 }, () => says({ text: 'Yes.' })));
    provider.requests.length = 0;
    await server.client.sessions.call(session.id, 'files.write', {
      path: 'gateway.mjs',
      content: script,
    });
    const command = `/opt/belay/node gateway.mjs ${provider.url} ${stolen}`;
    const attacked = (await run(session, command)).split('\n');
    const outcomes = Object.fromEntries(
      attacked.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.split(' ').at(-1)]),
    );
    const served = ['honest', 'overriding headers', 'beside halves', 'at the end'];
    const unlike = attacked.filter((line) => {
      const name = line.slice(0, line.lastIndexOf(' '));
      return served.includes(name) !== (outcomes[name] === '200');
    });
    expect(unlike).toEqual([]);
    expect(outcomes).toMatchObject({ 'another token': '401', 'huge body': '413', bomb: '413' });
    expect(Object.values(outcomes)).not.toContain('503');
    expect(provider.requests).toHaveLength(served.length);
    // Nothing else has reached the provider, and everything that has is as the server wrote it.
    for (const { path, headers } of provider.requests) {
      expect(path).toBe('/v1/chat/completions');
      expect(headers.authorization).toBe(`Bearer ${key}`);
      expect(headers.host).toBe(new URL(provider.url).host);
      expect(JSON.stringify(headers)).not.toMatch(/evil|sk-own|YQ==/);
    }
    // The other session has spent nothing.
    expect((await server.client.sessions.get(other.id)).steps).toBe(1);
    expect(await run(other, 'echo alive')).toBe('alive');
    await expectNoKey(session, own);
    session.close();
    other.close();
  });
});
