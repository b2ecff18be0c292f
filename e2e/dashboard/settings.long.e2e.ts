import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  belay,
  choose,
  Chromium,
  click,
  describeSystem,
  fill,
  script,
  shows,
  start,
  textOf,
  untilInPage,
} from '@belay/testkit';

describeSystem('what the settings of the server connect', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => chromium.closePages());
  afterEach(() => expect(chromium.complaints).toEqual([]));

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
    await shows(page, '[aria-label="laptop"]', /connected[\s\S]*0 sessions/);

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
});
