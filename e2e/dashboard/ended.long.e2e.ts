import type { Page } from 'puppeteer-core';
import {
  Chromium,
  click,
  clickOn,
  describeSystem,
  type Followed,
  hides,
  run,
  script,
  shows,
  start,
  hasFocus,
} from '@belay/testkit';

const code = '[aria-label="Code"]';
const changes = '[aria-label="Changes"]';

// With a limit of one sandbox, starting the next session evicts that of the ended one.
describeSystem(
  'an ended session',
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

    it('lets the user work in its sandbox', async () => {
      const terminal = '[aria-label="Terminal"]';
      await shows(page, `${terminal} .xterm-rows`, 'printed');
      await click(page, 'Take over', terminal);
      await shows(page, terminal, 'You’re in control');
      await hasFocus(page, `${terminal} textarea`);
      await page.keyboard.type('echo typed-$((6*7)); type nano vi\n');
      await shows(page, `${terminal} .xterm-rows`, 'typed-42');
      await shows(page, `${terminal} .xterm-rows`, 'vi is');
      expect((await server.client.sessions.get(session.id)).state).toBe('finished');
    });

    it('shows its changes without its sandbox, and its files when the user starts it', async () => {
      const model = script(server.data, [{ finish: 'Nothing to do.' }]);
      const next = await start(server, { task: 'Nothing', model });
      await next.finished();
      next.close();
      await page.reload();
      await shows(page, code, 'The sandbox has ended');
      await clickOn(page, '#tab-changes');
      await shows(page, changes, 'kept');
      await click(page, 'More', 'header');
      await shows(page, '[role=menu]', /Files as a zip\s+starts its sandbox/);
      await page.keyboard.press('Escape');
      await hides(page, 'body', 'Files as a zip');
      await clickOn(page, '#tab-code');
      await click(page, 'Start sandbox to view files', code);
      await click(page, 'a.txt', code);
      await shows(page, `${code} .view-lines`, 'kept');
    });
  },
  { BELAY_MAX_SANDBOXES: '1' },
);
