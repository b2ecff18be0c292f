import type { McpServer } from '@belay/protocol';
import { TestServer } from '../../testing/server.js';
import { storedDocuments } from '../../testing/stored-documents.js';

describe('a login at a remote MCP server', () => {
  const own = new TestServer();
  /** The remote one: another Belay, whose `/mcp` asks for OAuth. */
  const remote = new TestServer();
  beforeAll(async () => {
    await Promise.all([own.start(), remote.start()]);
    const transport = { type: 'http', url: `${remote.url}/mcp` };
    await own.json('POST', '/api/mcp', { name: 'other', transport });
  });
  afterAll(() => Promise.all([own.close(), remote.close()]));

  const server = async () =>
    (await own.json<McpServer[]>('GET', '/api/mcp')).find(({ name }) => name === 'other');
  const callback = async (state: string, code: string) =>
    (await own.fetch(`/oauth/callback?state=${state}&code=${code}`, { token: '' })).status;

  it('begins with a click, ends on our page, also after a restart, and is kept on the server alone', async () => {
    expect(await server()).toMatchObject({ state: 'failed' });
    const { url } = await own.json<{ url: string }>('POST', '/api/mcp/other/login');
    const page = new URL(url);
    expect(page.origin).toBe(remote.url);
    const wanted = Object.fromEntries(page.searchParams);
    const { redirect } = await remote.json<{ redirect: string }>('POST', '/oauth/consents', {
      ...wanted,
      allow: true,
      grant: 'view',
      sessions: 'all',
    });
    const answer = new URL(redirect);
    expect(answer.origin).toBe(own.url);
    const code = answer.searchParams.get('code') ?? '';
    const state = answer.searchParams.get('state') ?? '';
    await own.restart();
    // A stranger’s answer changes nothing.
    expect(await callback('guessed', code)).toBe(400);
    expect(await callback(state, code)).toBe(200);
    expect(await callback(state, code)).toBe(400);
    expect(await server()).toMatchObject({ state: 'connected' });
    const { access_token: token } = (
      (await storedDocuments(own))['mcp-logins'] as { other: { tokens: { access_token: string } } }
    ).other.tokens;
    expect(await (await own.fetch('/api/mcp')).text()).not.toContain(token);
    await own.json('DELETE', '/api/mcp/other');
    expect((await storedDocuments(own))['mcp-logins']).toEqual({});
  });

  it('is for the admin, and for servers at an address', async () => {
    const transport = { type: 'stdio', command: '/nowhere', host: true };
    await own.json('POST', '/api/mcp', { name: 'program', transport });
    expect(await own.json('POST', '/api/mcp/program/login')).toMatchObject({ status: 400 });
    const init = { method: 'POST', token: own.viewerToken };
    expect((await own.fetch('/api/mcp/program/login', init)).status).toBe(403);
  });
});
