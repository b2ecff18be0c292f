import { Chromium, fill, press, pressOn, shows, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start } from '../follow.js';
import { mcpServerFile } from '../mcp.js';
import { script } from '../script.js';

const chat = '[aria-label="Chat"]';

describeSystem('the settings of the server', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('budgets, network and approvals are what the next session begins with', async () => {
    const page = await chromium.open(server, '/settings?section=budgets');
    await shows(page, 'main', 'This counts for new sessions');
    await fill(page, 'Most steps', '12');
    await fill(page, 'Most dollars', '1.5');
    await press(page, 'Save', 'main');
    await shows(page, 'body', 'Saved. New sessions begin with it.');
    await press(page, 'Network', 'nav');
    await page.select('main select', 'list');
    await fill(page, 'More hosts', 'api.example, *.example.org:8443');
    await press(page, 'Save', 'main');
    await until(
      page,
      () => document.querySelector<HTMLButtonElement>('main form button')?.disabled,
    );
    await press(page, 'Approvals', 'nav');
    await page.select('main select', 'delay');
    await press(page, 'Save', 'main');
    await until(
      page,
      () => document.querySelector<HTMLButtonElement>('main form button')?.disabled,
    );
    expect(await server.client.settings.read()).toEqual({
      budgets: { steps: 12, tokens: null, dollars: 1.5, seconds: null },
      egress: { profile: 'list', hosts: ['api.example', '*.example.org:8443'] },
      approvals: 'delay',
    });
    await page.goto(`${server.url}/new`);
    // The list of models moves what is below it.
    await shows(page, 'main', 'scripted:example');
    await press(page, 'More: approvals, limits, network, image, MCP');
    const shown = await page.$$eval('details input, details select', (fields) =>
      fields.map((field) => (field as HTMLInputElement).value),
    );
    expect(shown).toEqual(
      expect.arrayContaining(['delay', '12', '1.5', 'list', 'api.example, *.example.org:8443']),
    );
    await page.close();
  });

  it('an MCP server is added, tried, narrowed, mended, used by a session and removed', async () => {
    const page = await chromium.open(server, '/settings?section=mcp');
    await shows(page, 'main', 'No MCP servers');
    await press(page, 'Add an MCP server');
    await fill(page, 'Name', 'tools');
    await press(page, 'A program on the server');
    await shows(page, 'main', 'outside of every sandbox');
    await fill(page, 'Command', process.execPath);
    await fill(page, 'Arguments', '/no/such/file.mjs');
    await press(page, 'Add a variable');
    await fill(page, 'Name of the variable', 'MCP_SECRET');
    await fill(page, 'Value of MCP_SECRET', 'never-shown-again');
    await press(page, 'Save and connect');
    await shows(page, '[aria-label="tools"]', 'ended the connection');
    await press(page, 'Edit tools');
    await fill(page, 'Arguments', mcpServerFile);
    await press(page, 'Save and connect');
    await shows(page, '[aria-label="tools"]', /connected, \d+ tools in use/);
    expect(await page.content()).not.toContain('never-shown');
    await press(page, 'Test tools');
    await shows(page, 'body', /tools has \d+ tools\./);
    await pressOn(page, '[aria-label="tools"] details summary');
    await shows(page, '[aria-label="tools"]', 'Says it again.');
    await shows(page, '[aria-label="tools"]', 'says that it only reads');
    await pressOn(page, '[aria-label="tools"] li:nth-child(2) input');
    await until(page, () => document.querySelectorAll('main li input:not(:checked)').length === 1);
    const [tools] = await server.client.mcp.list();
    expect(tools).toMatchObject({ state: 'connected', enabled: true });
    expect(tools?.tools).toHaveLength((tools?.offered.length ?? 0) - 1);

    const input = { text: 'a secret handshake' };
    const model = script(server.data, [
      { say: 'I echo.', calls: [{ operation: 'mcp.tools.echo', input }] },
      { expect: 'you said a secret handshake', finish: 'done' },
    ]);
    const session = await start(server, { task: 'Echo', model, approvals: 'ask' });
    await page.goto(`${server.url}/sessions/${session.id}`);
    await shows(page, chat, 'Allow mcp.tools.echo?');
    await press(page, 'Always…');
    await press(page, 'Allow always');
    await session.finished();
    await page.evaluate((where) => {
      const cards = [...document.querySelectorAll<HTMLElement>(`${where} [aria-expanded]`)];
      cards.find((card) => card.innerText.includes('mcp.tools.echo'))?.click();
    }, chat);
    await shows(page, chat, 'you said a secret handshake');
    expect(await server.client.rules.list()).toMatchObject([
      { operation: 'mcp.tools.echo', pattern: '*', scope: 'session' },
    ]);
    session.close();

    await page.goto(`${server.url}/new`);
    await shows(page, 'main', 'scripted:example');
    await press(page, 'More: approvals, limits, network, image, MCP');
    await shows(page, 'details', /tools\s+\d+ tools/);
    await page.goto(`${server.url}/doctor`);
    await shows(page, 'main', 'MCP server tools');
    await page.goto(`${server.url}/settings?section=mcp`);
    await press(page, 'Use tools');
    await shows(page, '[aria-label="tools"]', 'off');
    await press(page, 'Remove tools');
    await press(page, 'Remove', '[role=dialog]');
    await shows(page, 'main', 'No MCP servers');
    expect(await server.client.mcp.list()).toEqual([]);
    await page.close();
  });
});
