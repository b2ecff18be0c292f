import { eventually } from '@belay/testing';
import {
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  mcpServerFile,
  script,
  shows,
  start,
  unfold,
  untilInPage,
} from '@belay/testkit';

const chat = '[aria-label="Chat"]';

describeSystem('the settings of the server', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => chromium.closePages());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('an MCP server is added, tested, restricted, fixed, used by a session and removed', async () => {
    const page = await chromium.open(server, '/settings?section=mcp');
    await shows(page, 'main', 'No MCP servers');
    await click(page, 'Add MCP server');
    await fill(page, 'Name', 'tools');
    await click(page, 'A program on the server');
    await shows(page, 'main', 'It can reach only the hosts');
    await click(page, 'On this machine');
    await shows(page, 'main', 'outside any sandbox');
    await fill(page, 'Command', process.execPath);
    await fill(page, 'Arguments', '/no/such/file.mjs');
    await click(page, 'Add a variable');
    await fill(page, 'Name of the variable', 'MCP_SECRET');
    await fill(page, 'Value of MCP_SECRET', 'never-shown-again');
    await click(page, 'Save and connect');
    await shows(page, '[aria-label="tools"]', 'closed the connection');
    await click(page, 'Edit tools');
    await fill(page, 'Arguments', mcpServerFile);
    await click(page, 'Save and connect');
    await shows(page, '[aria-label="tools"]', /connected, \d+ tools in use/);
    expect(await page.content()).not.toContain('never-shown');
    await click(page, 'Test tools');
    await shows(page, 'body', /tools has \d+ tools\./);
    await clickOn(page, '[aria-label="tools"] details summary');
    await shows(page, '[aria-label="tools"]', 'Says it again.');
    await shows(page, '[aria-label="tools"]', 'declared read-only');
    await clickOn(page, '[aria-label="tools"] li:nth-child(2) input');
    await untilInPage(
      page,
      () => document.querySelectorAll('main li input:not(:checked)').length === 1,
    );
    await eventually(async () => {
      const [tools] = await server.client.mcp.list();
      expect(tools).toMatchObject({ state: 'connected', enabled: true });
      expect(tools?.tools).toHaveLength((tools?.offered.length ?? 0) - 1);
    });

    const input = { text: 'a secret handshake' };
    const model = script(server.data, [
      { say: 'I echo.', calls: [{ operation: 'mcp.tools.echo', input }] },
      { expect: 'you said a secret handshake', finish: 'done' },
    ]);
    const session = await start(server, { task: 'Echo', model, approvals: 'ask' });
    await page.goto(`${server.url}/sessions/${session.id}`);
    await shows(page, chat, 'Call echo of tools?');
    await click(page, 'Always…');
    await click(page, 'Always allow');
    await session.finished();
    await unfold(page, chat, 'echo (tools)');
    await shows(page, chat, 'you said a secret handshake');
    expect(await server.client.rules.list()).toMatchObject([
      { operation: 'mcp.tools.echo', pattern: '*', scope: 'session' },
    ]);
    session.close();

    await page.goto(`${server.url}/new`);
    await shows(page, 'main', 'scripted:example');
    await click(page, 'More: approvals, limits, network, image, MCP');
    await shows(page, 'details', /tools\s+\d+ tools/);
    await page.goto(`${server.url}/doctor`);
    await shows(page, 'main', 'MCP server tools');
    await page.goto(`${server.url}/settings?section=mcp`);
    await click(page, 'Use tools');
    await shows(page, '[aria-label="tools"]', 'off');
    await click(page, 'Remove tools');
    await click(page, 'Remove', '[role=dialog]');
    await shows(page, 'main', 'No MCP servers');
    await eventually(async () => expect(await server.client.mcp.list()).toEqual([]));
  });

  it('the API reference loads from this server alone', async () => {
    const page = await chromium.open(server, '/docs');
    await shows(page, '.swagger-ui', 'Belay');
    await clickOn(page, '[id="operations-tag-server"], .opblock-tag');
    await shows(page, '.swagger-ui', '/api/');
    const foreign = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => !name.startsWith(location.origin) && !name.startsWith('data:'))
        .map(({ name }) => name),
    );
    expect(foreign).toEqual([]);
  });
});
