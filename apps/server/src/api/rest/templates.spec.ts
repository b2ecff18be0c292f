import type { MadeToken, SavedTemplate } from '@belay/protocol';
import { TestServer } from '../../testing/server.js';

describe('templates of tasks', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const call = async <T>(method: string, name: string, body?: unknown, token = server.token) => {
    const answer = await server.fetch(`/api/templates${name && `/${encodeURIComponent(name)}`}`, {
      method,
      token,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const text = await answer.text();
    return { status: answer.status, value: (text ? JSON.parse(text) : undefined) as T };
  };
  const list = async (token?: string) =>
    (await call<SavedTemplate[]>('GET', '', undefined, token)).value;

  it('are saved over those of the same name, per user, and kept over a restart', async () => {
    const release = {
      task: 'Write the release notes',
      model: 'openai:small',
      approvals: 'auto',
      budgets: { dollars: 1 },
      egress: { profile: 'none' },
      check: 'npm test',
    };
    expect((await call('PUT', 'Release / notes', { task: 'Old' })).status).toBe(200);
    await call('PUT', 'Release / notes', release);
    const saved = { name: 'Release / notes', ...release };
    await server.restart();
    expect(await list()).toEqual([saved]);
    const ada = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'Ada',
      scope: 'operate',
    });
    expect(await list(ada.token)).toEqual([]);
    await call('PUT', 'Hers', { task: 'Hers' }, ada.token);
    expect((await call('DELETE', 'Hers')).status).toBe(404);
    expect(await list()).toEqual([saved]);
    expect((await call('DELETE', 'Hers', undefined, ada.token)).status).toBe(204);
    expect(await list(ada.token)).toEqual([]);
  });

  it.each([
    ['x', {}],
    ['x', { task: '' }],
    ['x', { task: 'x', model: 'nothing' }],
    ['x', { task: 'x', egress: { profile: 'list', hosts: ['no host!'] } }],
    ['a\nb', { task: 'x' }],
    ['x'.repeat(61), { task: 'x' }],
  ])('refuses %j with %j', async (name, body) => {
    expect((await call('PUT', name, body)).status).toBe(400);
  });

  it('are a hundred at most', async () => {
    for (let at = (await list()).length; at < 100; at += 1)
      expect((await call('PUT', `n ${at}`, { task: 'x' })).status).toBe(200);
    expect((await call('PUT', 'one more', { task: 'x' })).status).toBe(429);
    expect((await call('PUT', 'n 99', { task: 'y' })).status).toBe(200);
  });
});
