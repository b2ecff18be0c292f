import type { MadeToken } from '@belay/protocol';
import { tarOfFile } from '../testing/fake-sandboxes.js';
import { TestServer } from '../testing/server.js';

describe('attacks: a workspace of which only the id is known', () => {
  const server = new TestServer();
  const tokens: Record<string, string> = {};
  beforeAll(async () => {
    await server.start();
    for (const [name, sessions] of [
      ['ada', 'own'],
      ['mallory', 'own'],
      ['all', 'all'],
    ] as const) {
      const wanted = { label: name, scope: 'operate', sessions };
      tokens[name] = (await server.json<MadeToken>('POST', '/api/tokens', wanted)).token;
    }
  });
  afterAll(() => server.close());

  const upload = async (token?: string): Promise<string> => {
    const headers = { 'content-type': 'application/x-tar' };
    const init = { method: 'POST', token, headers, body: tarOfFile('mine') };
    const answer = await server.fetch('/api/workspaces', init);
    return ((await answer.json()) as { workspace: string }).workspace;
  };
  const start = async (token: string | undefined, path: string, more: object) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ task: 'x', ...more });
    const answer = await server.fetch(path, { method: 'POST', token, headers, body });
    return { ...((await answer.json()) as { detail?: string }), status: answer.status };
  };
  const session = (token: string | undefined, workspace: string) =>
    start(token, '/api/sessions', { model: 'scripted:x', workspace });
  const comparison = (token: string | undefined, workspace: string) =>
    start(token, '/api/comparisons', { models: ['scripted:x'], runs: 2, workspace });

  it('is used by its owner and by those who see all sessions, and does not exist for others', async () => {
    for (const owner of [undefined, tokens['ada']]) {
      const workspace = await upload(owner);
      for (const begin of [session, comparison]) {
        const none = await begin(tokens['mallory'], 'nosuchworkspace');
        const refused = await begin(tokens['mallory'], workspace);
        expect(refused).toMatchObject({ status: 404, detail: expect.any(String) });
        expect(refused.detail?.replace(workspace, 'nosuchworkspace')).toBe(none.detail);
        expect(await begin(tokens['all'], workspace)).toMatchObject({ status: 201 });
        expect(await begin(owner, workspace)).toMatchObject({ status: 201 });
      }
    }
  });
});
