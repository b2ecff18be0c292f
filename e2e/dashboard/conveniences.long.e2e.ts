import { eventually } from '@belay/testing';
import { isEvent } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import {
  Chromium,
  click,
  clickOn,
  clickTerminalLink,
  describeSystem,
  fill,
  type Followed,
  run,
  script,
  shows,
  start,
  untilInPage,
} from '@belay/testkit';

const chat = '[aria-label="Chat"]';
const code = '[aria-label="Code"]';
const rows = '[aria-label="Terminal"] .xterm-rows';
const field = (page: Page): Promise<string> =>
  page.$eval('#message', (element) => (element as HTMLTextAreaElement).value);

describeSystem('conveniences of a session', (server) => {
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
        calls: [run('echo see src/a.js:7; until [ -f go ]; do sleep 0.1; done', { wait: 600 })],
      },
      { finish: 'Seen.' },
      // The first finish is refused if the agent has not yet seen the file that the user created.
      { finish: 'Seen.' },
    ]);
    session = await start(server, { task: 'Show me', title: 'Handy', model });
    page = await chromium.open(server, `/sessions/${session.id}`);
    // The reply is complete, so its position is final.
    await shows(page, chat, 'done\nsee src/a.js:7');
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('a path in a message or in the terminal opens at its line', async () => {
    await click(page, 'src/a.js:50', chat);
    await shows(page, `${code} .view-lines`, '// line 50');
    expect(await page.$$eval('[title="Open this file"]', (all) => all.length)).toBe(1);
    await click(page, 'Close a.js', code);
    await shows(page, code, 'No file is open');

    await shows(page, rows, 'see src/a.js:7');
    await clickTerminalLink(page, rows, 'src/a.js:7');
    await shows(page, `${code} .view-lines`, '// line 7');
  });

  it('a click copies code', async () => {
    const context = page.browserContext();
    await context.overridePermissions(server.url, ['clipboard-read', 'clipboard-sanitized-write']);
    await clickOn(page, `${chat} [aria-label="Copy this code"]`);
    await untilInPage(
      page,
      async () => (await navigator.clipboard.readText()) === 'let copied = 1;',
    );
  });

  it('a running command shows its duration', async () => {
    await shows(page, chat, /running\s+\d/);
  });

  it('a draft survives a reload; arrow up recalls the last message; Escape interrupts', async () => {
    await fill(page, 'Message to the agent', 'half a thought');
    await page.reload();
    await shows(page, chat, 'Look at');
    await eventually(async () => expect(await field(page)).toBe('half a thought'));
    await fill(page, 'Message to the agent', ' ');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('ArrowUp');
    await eventually(async () => expect(await field(page)).toBe('Show me'));
    await page.keyboard.press('ArrowDown');
    await eventually(async () => expect(await field(page)).toBe(''));
    // Escape interrupts only while the page shows the agent as working.
    await shows(page, `${chat} form`, 'After this turn');
    await page.keyboard.press('Escape');
    await session.event((event) => isEvent(event, 'pause') && event.args.now === true);
    await shows(page, chat, 'Interrupted.');
    await shows(page, `${chat} form`, 'Send and resume');
    await server.client.sessions.resume(session.id);
    await server.client.sessions.call(session.id, 'files.write', { path: 'go', content: '' });
    await session.finished();
  });
});
