import { isFact } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { Chromium, fill, placeOf, press, pressOn, shows, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start, type Followed } from '../follow.js';
import { run, script } from '../script.js';

const chat = '[aria-label="Chat"]';
const code = '[aria-label="Code"]';
const rows = '[aria-label="Terminal"] .xterm-rows';
const field = (page: Page): Promise<string> =>
  page.$eval('#message', (element) => (element as HTMLTextAreaElement).value);

describeSystem('what makes a session handy', (server) => {
  const chromium = new Chromium();
  let page: Page;
  let session: Followed;

  beforeAll(async () => {
    await chromium.start();
    const lines = Array.from({ length: 60 }, (_, index) => `// line ${index + 1}`).join('\n');
    const model = script(server.data, [
      { calls: [{ operation: 'files.write', input: { path: 'src/a.js', content: lines } }] },
      {
        say: 'Look at `src/a.js:50` and this:\n\n```js\nlet copied = 1;\n```\n\nAnd `Math.round`.',
        calls: [run('echo see src/a.js:7; until [ -f go ]; do sleep 0.1; done')],
      },
      { finish: 'Seen.' },
    ]);
    session = await start(server, { task: 'Show me', title: 'Handy', model });
    page = await chromium.open(server, `/sessions/${session.id}`);
    // The reply is whole, and moves no more.
    await shows(page, chat, 'done\nsee src/a.js:7');
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('a path in a message or in the terminal opens at its line', async () => {
    await press(page, 'src/a.js:50', chat);
    await shows(page, `${code} .view-lines`, '// line 50');
    expect(await page.$$eval('[title="Open this file"]', (all) => all.length)).toBe(1);
    await press(page, 'Close a.js', code);
    await shows(page, code, 'No file is open');

    await shows(page, rows, 'see src/a.js:7');
    const link = await placeOf(page, rows, 'src/a.js:7');
    await page.mouse.move(link.x, link.y);
    await page.waitForSelector('.xterm-cursor-pointer');
    await page.mouse.click(link.x, link.y);
    await shows(page, `${code} .view-lines`, '// line 7');
  });

  it('code is copied by a press', async () => {
    const context = page.browserContext();
    await context.overridePermissions(server.url, ['clipboard-read', 'clipboard-sanitized-write']);
    await pressOn(page, `${chat} [aria-label="Copy this code"]`);
    await until(page, async () => (await navigator.clipboard.readText()) === 'let copied = 1;');
  });

  it('a command that runs says for how long', async () => {
    await shows(page, chat, /running\s+\d/);
  });

  it('what was written stays over a reload; the arrow up brings back what was sent; Escape pauses', async () => {
    await fill(page, 'Message to the agent', 'half a thought');
    await page.reload();
    await shows(page, chat, 'Look at');
    expect(await field(page)).toBe('half a thought');
    await fill(page, 'Message to the agent', ' ');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('ArrowUp');
    expect(await field(page)).toBe('Show me');
    await page.keyboard.press('ArrowDown');
    expect(await field(page)).toBe('');
    await page.keyboard.press('Escape');
    await session.event((event) => isFact(event, 'pause'));
    await server.client.sessions.resume(session.id);
    await server.client.sessions.call(session.id, 'files.write', { path: 'go', content: '' });
    await session.finished();
  });
});
