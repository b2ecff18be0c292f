import { isFact } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { Chromium, fill, hides, press, pressOn, shows, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start } from '../follow.js';
import { run, script } from '../script.js';

const chat = '[aria-label="Chat"]';
const theme = (page: Page) =>
  page.evaluate(() => document.documentElement.dataset['theme'] ?? 'none');
const chord = async (page: Page, key: string) => {
  await page.keyboard.down('Control');
  await page.keyboard.press(key as 'k');
  await page.keyboard.up('Control');
};

describeSystem('the habits of a person', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('the palette and shortcuts do everything by keys; shortcuts can be chosen', async () => {
    const page = await chromium.open(server);
    await shows(page, 'main', 'Watch the demo');
    await chord(page, 'k');
    await shows(page, '[role=dialog]', 'New session');
    await page.keyboard.type('Theme: dark');
    await page.keyboard.press('Enter');
    await until(page, () => document.documentElement.dataset['theme'] === 'dark');
    await chord(page, 'k');
    await shows(page, '[role=dialog]', 'Shortcuts');
    await page.keyboard.type('shortcuts');
    await page.keyboard.press('Enter');
    await shows(page, 'main', 'Press a shortcut to change it');
    await press(page, 'Shortcut of New session: G N');
    await chord(page, 'j');
    await shows(page, 'main', 'Ctrl+J');
    await page.reload();
    await shows(page, 'main', 'Ctrl+J');
    await chord(page, 'j');
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
    await fill(page, 'Key', 'sk-never-shown-again');
    await press(page, 'Save', 'main');
    await shows(page, 'main', 'A key is saved.');
    await page.reload();
    await shows(page, 'main', 'A key is saved.');
    expect(await page.content()).not.toContain('never-shown');
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
