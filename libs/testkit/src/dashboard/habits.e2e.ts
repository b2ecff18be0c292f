import { isFact } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { Chromium, chord, fill, hides, press, pressOn, shows, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start } from '../follow.js';
import { run, script } from '../script.js';

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
  await until(page, () => document.hidden);
}

describeSystem('the habits of a person', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('the palette and shortcuts do everything by keys; shortcuts can be chosen', async () => {
    const page = await chromium.open(server);
    await shows(page, 'main', 'Watch the demo');
    await chord(page, 'Control', 'k');
    await shows(page, '[role=dialog]', 'New session');
    await page.keyboard.type('Theme: dark');
    await page.keyboard.press('Enter');
    await until(page, () => document.documentElement.dataset['theme'] === 'dark');
    await chord(page, 'Control', 'k');
    await shows(page, '[role=dialog]', 'Shortcuts');
    await page.keyboard.type('shortcuts');
    await page.keyboard.press('Enter');
    await shows(page, 'main', 'Press a shortcut to change it');
    await press(page, 'Shortcut of New session: G N');
    await chord(page, 'Control', 'j');
    await shows(page, 'main', 'Ctrl+J');
    await page.reload();
    await shows(page, 'main', 'Ctrl+J');
    await chord(page, 'Control', 'j');
    await until(page, () => location.pathname === '/new');
    // While a person writes, a plain key is a letter.
    await fill(page, 'Task', 'g s');
    expect(new URL(page.url()).pathname).toBe('/new');
    await page.close();
  });

  it('light, dark and as the system says, kept over a reload', async () => {
    const page = await chromium.open(server, '/settings');
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await until(page, () => document.documentElement.dataset['theme'] === 'dark');
    await press(page, 'Light');
    expect(await theme(page)).toBe('light');
    await page.reload();
    await shows(page, 'main', 'Theme');
    expect(await theme(page)).toBe('light');
    await press(page, 'As the system');
    expect(await theme(page)).toBe('dark');
    await page.close();
  });

  it('who looks elsewhere is notified when a call waits and when the turn ends', async () => {
    const model = script(server.data, [
      { calls: [run('echo may-i')] },
      { finish: 'It is **done**.' },
    ]);
    const page = await chromium.open(server, '/settings');
    await page.browserContext().overridePermissions(server.url, ['notifications']);
    await press(page, 'Notifications', 'main');
    await until(page, () => document.querySelector('[aria-checked=true]'));
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
    await page.evaluate(
      () => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 300))),
    );
    expect(await notified()).toBe('');

    await lookAway(page);
    const session = await start(server, { task: 'Ring', model, approvals: 'ask' });
    await until(page, () => document.body.dataset['notified'] === 'Ring: Allow echo may-i?');
    const { id } = await session.event((event) => isFact(event, 'approval'));
    await server.client.sessions.answer(session.id, id ?? '', { verdict: 'approved' });
    await until(page, () => document.body.dataset['notified']?.endsWith('Ring: It is done.'));
    for (const each of [seen, session]) each.close();
    await page.close();
  });

  it('on a phone a person watches, approves and stops', async () => {
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
    await press(page, 'Allow once');
    await session.event((event) => isFact(event, 'approve'));
    await press(page, 'Printer');
    await shows(page, chat + ', main', 'sleep 600');
    await press(page, 'Allow once');
    await hides(page, 'main', 'Allow terminal.run?');
    await press(page, 'Terminal', 'nav');
    await shows(page, '.xterm-rows', 'from-the-phone');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(390);
    await press(page, 'Stop', 'header');
    await session.state('stopped');
    await shows(page, 'main', 'This session was stopped.');
    session.close();
    await page.close();
  });

  it('rules are written, tried out, listed and revoked; models and the doctor say what to do', async () => {
    const page = await chromium.open(server, '/settings?section=approvals');
    await shows(page, 'main', 'No rules');
    await fill(page, 'When it matches', 'echo *');
    await shows(page, 'main', 'It would have decided');
    await press(page, 'Make the rule');
    await shows(page, 'main', 'Allow terminal.run echo *');
    expect(await server.client.rules.list()).toMatchObject([
      { pattern: 'echo *', verdict: 'approved' },
    ]);
    await press(page, 'Revoke');
    await shows(page, 'main', 'No rules');
    expect(await server.client.rules.list()).toEqual([]);

    await press(page, 'Models and keys', 'nav');
    await shows(page, 'main', 'No key is set.');
    await press(page, 'Add a key to Anthropic');
    await fill(page, 'Key', 'sk-never-shown-again');
    await press(page, 'Save', 'main');
    await shows(page, 'main', 'A key is saved.');
    await page.reload();
    await shows(page, 'main', 'A key is saved.');
    expect(await page.content()).not.toContain('never-shown');
    await press(page, 'Change the key of Anthropic');
    await press(page, 'Remove the key');
    await hides(page, 'main', 'A key is saved.');

    await pressOn(page, 'a[href="/doctor"]');
    await shows(page, 'main', /Docker/);
    const checks = await server.client.checks();
    for (const { name } of checks) await shows(page, 'main', name);
    for (const { ok, remedy } of checks) if (!ok && remedy) await shows(page, 'main', remedy);
    await page.close();
  });
});
