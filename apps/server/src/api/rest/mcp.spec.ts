import type { Check, McpServer } from '@belay/protocol';
import { itLong, until } from '@belay/testing';
import { overStdio, ToolsServer } from '../../mcp/testing/tools-server.js';
import { TestServer } from '../../testing/server.js';
import { storedDocuments } from '../../testing/stored-documents.js';

describe('MCP servers', () => {
  const server = new TestServer();
  const tools = new ToolsServer();
  beforeAll(() => Promise.all([server.start(), tools.start({ MCP_TOKEN: 'k-123456' })]));
  afterAll(() => Promise.all([server.close(), tools.kill()]));
  afterEach(async () => {
    for (const { name } of await list()) await server.json('DELETE', `/api/mcp/${name}`);
  });

  const list = () => server.json<McpServer[]>('GET', '/api/mcp');
  const create = (body: object) => server.json<McpServer>('POST', '/api/mcp', body);
  const change = (name: string, body: object) =>
    server.json<McpServer>('PATCH', `/api/mcp/${name}`, body);
  const http = (token = 'k-123456') => tools.transport({ authorization: `Bearer ${token}` });
  const toolsOf = async (session: string) =>
    (await server.log.settings(session)).mcp.map((tool) => `${tool.server} ${tool.name}`);

  it('are created, tried, changed and removed; a secret goes in and never comes out', async () => {
    const wrong = await create({ name: 'tools', transport: http('k-wrong-one') });
    expect(wrong).toMatchObject({ state: 'failed', error: expect.stringContaining('headers') });
    expect(wrong.transport).toEqual({ ...http(), headers: ['authorization'] });
    const right = await change('tools', { transport: http() });
    expect(right).toMatchObject({ state: 'connected', error: null });
    expect(right.offered).toContainEqual({
      name: 'echo',
      title: 'Echo',
      description: 'Says it again.',
      readOnly: true,
    });
    const kept = { ...http(), headers: { authorization: null } };
    expect(await change('tools', { transport: kept })).toMatchObject({ state: 'connected' });
    expect(JSON.stringify(await list())).not.toContain('k-123456');
    expect(JSON.stringify((await storedDocuments(server))['mcp'])).toContain('k-123456');
    await server.restart();
    await until('it', async () => (await list())[0]?.state === 'connected');
    expect((await server.fetch('/api/mcp/tools', { method: 'DELETE' })).status).toBe(204);
    expect(await list()).toEqual([]);
  });

  it.each([
    [{ name: 'Not a name' }, 400],
    [{ transport: { type: 'http', url: 'ftp://x.example/mcp' } }, 400],
    [{ transport: { type: 'http', url: 'http://me:secret@x.example/mcp' } }, 400],
    [{ transport: { type: 'stdio', command: ' ' } }, 400],
    [{ transport: { type: 'stdio', command: 'x', env: { TOKEN: null } } }, 400],
    [{ transport: { type: 'stdio', command: 'x', folder: 'relative' } }, 400],
    [{ transport: { type: 'stdio', command: 'x', host: 'yes' } }, 400],
  ])('%j is refused', async (part, status) => {
    const whole = { name: 'tools', transport: overStdio(), ...part };
    expect(await create(whole)).toMatchObject({ status });
    expect(await list()).toEqual([]);
  });

  it('are readable for a viewer, but only the user can change them', async () => {
    const token = server.viewerToken;
    expect((await server.fetch('/api/mcp', { token })).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/api/mcp'],
      ['PATCH', '/api/mcp/tools'],
      ['POST', '/api/mcp/tools/test'],
      ['DELETE', '/api/mcp/tools'],
    ] as const) {
      expect((await server.fetch(path, { method, token })).status).toBe(403);
    }
  });

  itLong(
    'give a session its tools at its begin: of all that are enabled, of some, or of none',
    async () => {
      await create({ name: 'some', transport: overStdio(), tools: ['echo', 'picture'] });
      await create({ name: 'off', transport: overStdio(), enabled: false });
      expect(await toolsOf(await server.session())).toEqual(['some echo', 'some picture']);
      expect(await toolsOf(await server.session({ mcp: [] }))).toEqual([]);
      const early = await server.session({ mcp: ['some'] });
      await change('some', { tools: ['fail'] });
      expect(await toolsOf(await server.session())).toEqual(['some fail']);
      expect(await toolsOf(early)).toEqual(['some echo', 'some picture']);
      const started = (await server.log.read(early, { after: 0 }))[0];
      expect(started?.args['mcp']).toMatchObject([{ name: 'echo' }, { name: 'picture' }]);
      for (const [mcp, sentence] of [
        [['off'], 'The MCP server off is disabled in the settings.'],
        [['unknown'], 'There is no MCP server unknown in the settings.'],
      ] as const) {
        const refused = await server.json('POST', '/api/sessions', {
          task: 'x',
          model: 'scripted:x',
          mcp,
        });
        expect(refused).toMatchObject({ detail: sentence });
      }
    },
  );

  it('that fail are left out with a sentence in the log, and the doctor names them', async () => {
    await create({
      name: 'broken',
      transport: { type: 'stdio', command: 'no-such-mcp', host: true },
    });
    const session = await server.session();
    expect(await toolsOf(session)).toEqual([]);
    const said = (await server.log.read(session, { after: 0 })).find(
      ({ action }) => action === 'mcp',
    );
    expect(said).toMatchObject({
      args: { server: 'broken' },
      message: expect.stringMatching(/^The MCP server broken cannot be started/),
    });
    const checks = await server.json<Check[]>('GET', '/api/checks');
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'MCP server broken', ok: false, detail: said?.message }),
    );
    const named = { task: 'x', model: 'scripted:x', mcp: ['broken'] };
    expect(await server.json('POST', '/api/sessions', named)).toMatchObject({ status: 503 });
  });
});
