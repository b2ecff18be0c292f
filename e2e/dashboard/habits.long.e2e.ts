import { eventually, staysTrue } from '@belay/testing';
import { isEvent } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import {
  chord,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  hides,
  run,
  runFromPalette,
  script,
  shows,
  start,
  untilInPage,
  hasFocus,
} from '@belay/testkit';

const chat = '[aria-label="Chat"]';
const theme = (page: Page) =>
  page.evaluate(() => document.documentElement.dataset['theme'] ?? 'none');

/** Minimizes the window of a page. */
async function lookAway(page: Page): Promise<void> {
  const devtools = await page.createCDPSession();
  const { windowId } = await devtools.send('Browser.getWindowForTarget');
  await devtools.send('Browser.setWindowBounds', {
    windowId,
    bounds: { windowState: 'minimized' },
  });
  await untilInPage(page, () => document.hidden);
}

describeSystem('preferences and notifications', (server) => {
  // The shell has no windows and no notifications.
  const chromium = new Chromium({ whole: true });
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => chromium.closePages());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('the palette and shortcuts cover every action; shortcuts can be changed', async () => {
    const page = await chromium.open(server);
    await shows(page, 'main', 'Watch the demo');
    await runFromPalette(page, 'Theme: dark');
    await untilInPage(page, () => document.documentElement.dataset['theme'] === 'dark');
    await untilInPage(page, () => !document.querySelector('[role=dialog]'));
    await chord(page, 'Control', 'k');
    await shows(page, '[role=dialog]', 'Shortcuts');
    await hasFocus(page, '[role=dialog] input');
    await page.keyboard.type('shortcuts');
    await shows(page, '[role=dialog] [aria-selected=true]', 'hortcuts');
    await page.keyboard.press('Enter');
    await shows(page, 'main', 'Click a shortcut');
    await click(page, 'Shortcut for New session: G N');
    await shows(page, 'main', 'press keys…');
    await chord(page, 'Control', 'j');
    await shows(page, 'main', 'Ctrl+J');
    await page.reload();
    await shows(page, 'main', 'Ctrl+J');
    await chord(page, 'Control', 'j');
    await untilInPage(page, () => location.pathname === '/new');
    // In a text field, a plain key types its letter.
    await fill(page, 'Task', 'g s');
    expect(new URL(page.url()).pathname).toBe('/new');
  });

  it('the theme is light, dark or the system’s, and survives a reload', async () => {
    const page = await chromium.open(server, '/settings');
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await untilInPage(page, () => document.documentElement.dataset['theme'] === 'dark');
    const becomes = (name: string) => eventually(async () => expect(await theme(page)).toBe(name));
    await click(page, 'Light');
    await becomes('light');
    await page.reload();
    await shows(page, 'main', 'Theme');
    expect(await theme(page)).toBe('light');
    await click(page, 'System');
    await becomes('dark');
  });

  it('a user in another window is notified when a call needs approval and when the turn ends', async () => {
    const model = script(server.data, [
      { calls: [run('echo may-i')] },
      { finish: 'It is **done**.' },
    ]);
    const page = await chromium.open(server, '/settings');
    await page.browserContext().overridePermissions(server.url, ['notifications']);
    await click(page, 'Notifications', 'main');
    await page.waitForSelector('main [aria-label="Notifications"][aria-checked=true]');
    await page.evaluate(() => {
      const shown: string[] = [];
      globalThis.Notification = class extends Notification {
        constructor(title: string, options?: NotificationOptions) {
          super(title, options);
          shown.push(`${title}: ${options?.body ?? ''}`);
          document.body.dataset['notified'] = shown.join('\n');
        }
      };
    });
    const notified = () => page.evaluate(() => document.body.dataset['notified'] ?? '');
    const seen = await start(server, { task: 'Seen', model, approvals: 'auto' });
    await seen.finished();
    // By then the page has received the end of the session.
    await click(page, 'Fleet', 'header');
    await shows(page, '[aria-label="Seen"]', 'finished');
    await staysTrue('no notification', 300, async () => (await notified()) === '');

    await lookAway(page);
    const session = await start(server, { task: 'Ring', model, approvals: 'ask' });
    await untilInPage(
      page,
      () => document.body.dataset['notified'] === 'Ring: Waiting for approval: echo may-i',
    );
    const { id } = await session.event((event) => isEvent(event, 'approval'));
    await server.client.sessions.answer(session.id, id ?? '', { verdict: 'approved' });
    await untilInPage(page, () => document.body.dataset['notified']?.endsWith('Ring: It is done.'));
    for (const each of [seen, session]) each.close();
  });

  it('a phone can watch, approve and stop', async () => {
    const model = script(server.data, [
      { say: 'I want to print.', calls: [run('echo from-the-phone')] },
      { calls: [run('sleep 600')] },
    ]);
    const session = await start(server, {
      task: 'Print',
      title: 'Printer',
      model,
      approvals: 'ask',
    });
    const page = await chromium.open(server, '/', { width: 390, height: 844 });
    await shows(page, '[aria-label="Printer"]', 'echo from-the-phone');
    await click(page, 'Allow once');
    await session.event((event) => isEvent(event, 'approve'));
    await click(page, 'Printer');
    await shows(page, chat + ', main', 'sleep 600');
    await click(page, 'Allow once');
    await hides(page, 'main', 'Run this command?');
    await click(page, 'Terminal', 'nav');
    await shows(page, '.xterm-rows', 'from-the-phone');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(390);
    await click(page, 'More', 'header');
    await click(page, 'Share…', '[role=menu]');
    await shows(page, '[role=dialog]', 'Share a link');
    await page.keyboard.press('Escape');
    await untilInPage(page, () => !document.querySelector('[role=dialog]'));
    await click(page, 'Stop', 'header');
    await click(page, 'Stop', '[role=dialog]');
    await session.state('stopped');
    await shows(page, 'main', 'This session was stopped.');
    session.close();
  });

  it('rules are written, tested, listed and revoked; models and the doctor show what to do', async () => {
    const page = await chromium.open(server, '/settings?section=approvals');
    await shows(page, 'main', 'No rules');
    await fill(page, 'Pattern', 'echo *');
    await shows(page, 'main', 'Would match');
    await click(page, 'Create rule');
    await shows(page, 'main', 'Allow terminal.run echo *');
    expect(await server.client.rules.list()).toMatchObject([
      { pattern: 'echo *', verdict: 'approved' },
    ]);
    await click(page, 'Revoke');
    await shows(page, 'main', 'No rules');
    await eventually(async () => expect(await server.client.rules.list()).toEqual([]));

    await click(page, 'Models and keys', 'nav');
    await shows(page, 'main', 'No key is set.');
    await click(page, 'Add key to Anthropic');
    await fill(page, 'API key', 'sk-never-shown-again');
    await click(page, 'Save', 'main');
    await shows(page, 'main', 'Not saved:');
    await click(page, 'Save anyway', 'main');
    await shows(page, 'main', 'A key is saved.');
    await page.reload();
    await shows(page, 'main', 'A key is saved.');
    expect(await page.content()).not.toContain('never-shown');
    await click(page, 'Change Anthropic');
    await click(page, 'Remove key');
    await hides(page, 'main', 'A key is saved.');

    await clickOn(page, 'a[href="/doctor"]');
    await shows(page, 'main', /Docker/);
    const checks = await server.client.server.checks();
    for (const { name } of checks) await shows(page, 'main', name);
    for (const { ok, remedy } of checks) if (!ok && remedy) await shows(page, 'main', remedy);
  });
});
