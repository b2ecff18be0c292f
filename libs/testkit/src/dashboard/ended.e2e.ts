import type { Page } from 'puppeteer-core';
import { Chromium, hides, press, pressOn, shows } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start, type Followed } from '../follow.js';
import { run, script } from '../script.js';

const code = '[aria-label="Code"]';
const changes = '[aria-label="Changes"]';
const namesIn = (page: Page, where: string): Promise<string[]> =>
  page.$$eval(`${where} button`, (all) => all.map((each) => each.ariaLabel ?? each.innerText));

// One sandbox at most: the next session takes that of the one that has ended.
describeSystem(
  'a session that has ended',
  (server) => {
    const chromium = new Chromium();
    let page: Page;
    let session: Followed;
    beforeAll(async () => {
      await chromium.start();
      const write = { operation: 'files.write', input: { path: 'a.txt', content: 'kept\n' } };
      const model = script(server.data, [
        { calls: [write, run('echo printed')] },
        { finish: 'Written.' },
      ]);
      session = await start(server, { task: 'Write', title: 'Ends', model });
      await session.finished();
      page = await chromium.open(server, `/sessions/${session.id}`);
    });
    afterAll(async () => {
      session.close();
      await chromium.dispose();
    });
    afterEach(() => expect(chromium.complaints).toEqual([]));

    it('offers nothing that needs a running agent', async () => {
      await shows(page, '[aria-label="Terminal"] .xterm-rows', 'printed');
      const offered = await namesIn(page, 'main');
      expect(offered).not.toContain('Take over');
      expect(offered).not.toContain('Open a terminal');
    });

    it('shows its changes without its sandbox, and its files when a person starts it', async () => {
      const model = script(server.data, [{ finish: 'Nothing to do.' }]);
      const next = await start(server, { task: 'Nothing', model });
      await next.finished();
      next.close();
      await page.reload();
      await shows(page, code, 'The sandbox has ended');
      await pressOn(page, '#tab-changes');
      await shows(page, changes, 'kept');
      await press(page, 'More', 'header');
      await shows(page, '[role=menu]', /Files as a zip\s+starts its sandbox/);
      await page.keyboard.press('Escape');
      await hides(page, 'body', 'Files as a zip');
      await pressOn(page, '#tab-code');
      await press(page, 'Start it to see the files', code);
      await press(page, 'a.txt', code);
      await shows(page, `${code} .view-lines`, 'kept');
    });
  },
  { BELAY_MAX_SANDBOXES: '1' },
);
