import type { Check, MadeToken } from '@belay/protocol';
import { TestServer } from '../../testing/server.js';

it('attacks: what the checks find on the host is told to an admin alone', async () => {
  const server = new TestServer();
  await server.start();
  try {
    const detail = 'connect ENOENT /run/user/7/docker.sock';
    server.sandboxes.checks = () =>
      Promise.resolve([{ name: 'Docker', ok: false, detail, remedy: 'Start /opt/docker.' }]);
    const told = async (token: string) =>
      (await (await server.fetch('/api/checks', { token })).json()) as Check[];
    const { token: operator } = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'x',
      scope: 'operate',
    });
    const all = await told(server.token);
    expect(JSON.stringify(all)).toContain(server.data);
    expect(all).toContainEqual(expect.objectContaining({ detail, remedy: 'Start /opt/docker.' }));
    for (const token of [operator, server.viewerToken]) {
      const short = await told(token);
      expect(short.map(({ name, ok }) => [name, ok])).toEqual(
        all.map(({ name, ok }) => [name, ok]),
      );
      expect(JSON.stringify(short)).not.toMatch(/docker\.sock|opt|free for/);
      expect(JSON.stringify(short)).not.toContain(server.data);
    }
  } finally {
    await server.close();
  }
});
