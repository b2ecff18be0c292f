import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@belay/testing';
import {
  belay,
  choose,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  mcpServerFile,
  script,
  shows,
  start,
  textOf,
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

  it('budgets, network and approvals apply to the next session', async () => {
    const page = await chromium.open(server, '/settings?section=budgets');
    await shows(page, 'main', 'Applies to new sessions');
    await fill(page, 'Step limit', '12');
    await fill(page, 'Spending limit ($)', '1.5');
    await click(page, 'Save', 'main');
    await shows(page, 'body', 'Saved for new sessions.');
    await click(page, 'Network', 'nav');
    await choose(page, 'main select', 'list');
    await fill(page, 'Allowed hosts', 'api.example/path');
    await click(page, 'Save', 'main');
    await shows(page, '[role=alert]', 'api.example/path');
    await fill(page, 'Allowed hosts', 'api.example, *.example.org:8443');
    await click(page, 'Save', 'main');
    await untilInPage(
      page,
      () => document.querySelector<HTMLButtonElement>('main form button[type=submit]')?.disabled,
    );
    await click(page, 'Approvals', 'nav');
    await choose(page, 'main select', 'delay');
    await click(page, 'Save', 'main');
    await untilInPage(
      page,
      () => document.querySelector<HTMLButtonElement>('main form button[type=submit]')?.disabled,
    );
    await eventually(async () =>
      expect(await server.client.settings.read()).toEqual({
        budgets: { steps: 12, tokens: null, dollars: 1.5, seconds: null },
        egress: { profile: 'list', hosts: ['api.example', '*.example.org:8443'] },
        approvals: 'delay',
      }),
    );
    await page.goto(`${server.url}/new`);
    // The list of models moves the layout below it when it loads.
    await shows(page, 'main', 'scripted:example');
    await click(page, 'More: approvals, limits, network, image, MCP');
    await eventually(async () => {
      const shown = await page.$$eval('details input, details select', (fields) =>
        fields.map((field) => (field as HTMLInputElement).value),
      );
      expect(shown).toEqual(
        expect.arrayContaining(['delay', '12', '1.5', 'list', 'api.example, *.example.org:8443']),
      );
    });
  });

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

  it('an MCP server that asks for a login is connected on its own page', async () => {
    const page = await chromium.open(server, '/settings?section=mcp');
    await shows(page, 'main', 'No MCP servers');
    await click(page, 'Add MCP server');
    await fill(page, 'Name', 'remote');
    // Belay’s own MCP server stands in for a server that requires OAuth.
    await fill(page, 'URL', `${server.url}/mcp`);
    await click(page, 'Save and connect');
    await shows(page, '[aria-label="remote"]', 'not connected');
    await click(page, 'Connect remote');
    const isConsent = (target: { url(): string }) => target.url().includes('/oauth/authorize');
    const opened = await page.browserContext().waitForTarget(isConsent, { timeout: 90_000 });
    const consent = await opened.page();
    if (!consent) throw new Error('No page was opened.');
    await shows(consent, 'main, body', 'Belay wants to use this Belay server');
    await click(consent, 'Allow');
    await shows(consent, 'body', 'remote is connected. You can close this page.');
    await consent.close();
    await page.bringToFront();
    await shows(page, '[aria-label="remote"]', /connected, \d+ tools in use/);
    await click(page, 'Remove remote');
    await click(page, 'Remove', '[role=dialog]');
    await shows(page, 'main', 'No MCP servers');
  });

  it('a machine joins with the command from the page, is chosen for a session, and is removed', async () => {
    const page = await chromium.open(server, '/settings?section=machines');
    await shows(page, 'main', 'No machines');
    await fill(page, 'New machine', 'two words');
    await page.waitForSelector('main form button:disabled');
    await fill(page, 'New machine', 'laptop');
    await click(page, 'Create token');
    await shows(page, 'main code', 'belay join');
    const command = await textOf(page, 'main code');
    expect(command).toMatch(/^belay join http:\/\/127\.0\.0\.1:\d+ --token join-\S+ --container$/);
    // Without containers, which needs nothing but this machine.
    const [, ...args] = command.replace(' --container', '').split(' ');
    const home = mkdtempSync(join(tmpdir(), 'belay-joined-'));
    const joined = belay(home, args, {
      env: { HOME: home, XDG_DATA_HOME: home, XDG_STATE_HOME: home },
    });
    await shows(page, '[aria-label="laptop"]', 'bare: nothing is confined');
    await shows(page, '[aria-label="laptop"]', /connected[\s\S]* · 0 sessions/);

    const form = await chromium.open(server, '/new');
    await shows(form, 'main', 'scripted:example');
    await click(form, 'More: approvals, limits, network, image, MCP');
    await untilInPage(form, () =>
      [...document.querySelectorAll<HTMLOptionElement>('details option')].some(
        ({ value, disabled }) => value === 'laptop' && !disabled,
      ),
    );
    await choose(form, 'details select:has(option[value=laptop])', 'laptop');
    await shows(form, 'details', 'Nothing is confined: commands run on');
    await form.close();

    const model = script(server.data, [{ finish: 'done' }]);
    const session = await start(server, { task: 'Look around', model, machine: 'laptop' });
    await session.finished();
    session.close();
    await page.goto(`${server.url}/`);
    await shows(page, 'main article', '⚠ bare on laptop');
    await page.goto(`${server.url}/settings?section=machines`);
    await shows(page, '[aria-label="laptop"]', '1 session');
    await click(page, 'Remove laptop');
    await shows(page, '[role=dialog]', 'Its agents stop');
    await click(page, 'Remove', '[role=dialog]');
    await shows(page, 'main', 'No machines');
    expect((await joined).stderr).toMatch(/was removed|is not valid, or was revoked/);
    // Processes of the joined machine may end a moment later.
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
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
