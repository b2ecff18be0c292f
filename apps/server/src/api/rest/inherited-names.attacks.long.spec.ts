import { gitHost } from '@belay/protocol';
import { TestServer } from '../../testing/server.js';

/** Names that every object inherits a value for. */
const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];

describe('attacks: names that every object inherits', () => {
  const server = new TestServer({ realModels: true });
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const rule = {
    operation: 'terminal.run',
    pattern: '*',
    verdict: 'approved',
    scope: 'everywhere',
  };
  const http = { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { constructor: 'x' } };
  /** What an admin stores under a name, and where the list of it is. */
  const stored = (name: string): [method: string, path: string, body: object, list: string][] => [
    ['PUT', `/api/git/hosts/${name}`, { private: true }, '/api/git/hosts'],
    ['PUT', `/api/templates/${name}`, { task: 'Paint' }, '/api/templates'],
    ['POST', '/api/machines', { name }, '/api/machines'],
    ['POST', '/api/mcp', { name, transport: http }, '/api/mcp'],
    ['PATCH', `/api/mcp/${name}`, { enabled: false }, '/api/mcp'],
    ['PUT', `/api/actions/${name}/secrets/${name}`, { value: 'x' }, '/api/actions'],
    ['DELETE', `/api/git/hosts/${name}x`, {}, '/api/git/hosts'],
    ['POST', '/api/rules', { ...rule, operation: name }, '/api/rules'],
    ['PUT', `/api/providers/${name}`, { key: 'x' }, '/api/providers'],
    [
      'POST',
      '/api/sessions',
      { task: 'x', model: 'openai:x', mcp: [name], actions: [name] },
      '/api/sessions',
    ],
    ['POST', `/api/sessions/x/operations/${name}`, {}, '/api/operations'],
  ];

  it.each(names)('%s is a name like others, or is refused in words', async (name) => {
    for (const [method, path, body, list] of stored(name)) {
      const answer = await server.json<{ code?: string }>(method, path, body);
      expect({ path, status: answer.status }).toEqual({ path, status: expect.any(Number) });
      expect({ path, code: answer.code }).not.toEqual({ path, code: 'internal' });
      expect((await server.fetch(list)).status).toBe(200);
    }
  });

  it('leave files that the next start reads', async () => {
    for (const name of ['constructor', 'toString', 'github.com'])
      await server.json('PUT', `/api/git/hosts/${name}`, { private: true });
    await server.restart();
    const hosts = gitHost.array().parse(await server.json('GET', '/api/git/hosts'));
    const kindOf = (name: string) => hosts.find(({ host }) => host === name)?.kind;
    expect([kindOf('constructor'), kindOf('github.com')]).toEqual(['other', 'github']);
    for (const path of ['/api/templates', '/api/machines', '/api/mcp', '/api/actions'])
      expect((await server.fetch(path)).status).toBe(200);
  });
});
