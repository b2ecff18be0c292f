import { eventually, until } from '@belay/testing';
import { isEvent } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { chord, click, clickOn, fill, hasFocus, hides, shows, untilInPage } from '@belay/testkit';
import { panelPlaces } from './panel-places.js';
import { describePanels } from './panels-scene.js';

const { browser, changes, chat, code, terminal } = panelPlaces;

/** Taking over also focuses the terminal. */
const takeOver = async (page: Page) => {
  await click(page, 'Take over', terminal);
  await shows(page, terminal, 'You’re in control');
  await hasFocus(page, `${terminal} textarea`);
  await clickOn(page, `${terminal} .xterm-screen`);
  await hasFocus(page, `${terminal} textarea`);
};

// panels.long.e2e.ts has the changes, the sizes of panels, two terminals at once, and comments.
describePanels('the panels of a session', (scene) => {
  it('the user takes over the terminal, types, returns it, and opens a second one', async () => {
    const { page, session } = scene;
    await shows(page, terminal, 'Agent in control');
    await click(page, 'main', terminal);
    await takeOver(page);
    await page.keyboard.type('echo human-$((40+2))');
    await page.keyboard.press('Enter');
    await shows(page, `${terminal} .xterm-rows`, 'human-42');
    await click(page, 'Hand back', terminal);
    await shows(page, terminal, 'Agent in control');
    await click(page, 'Open a terminal', terminal);
    await untilInPage(
      page,
      () =>
        document.querySelectorAll('[aria-label="Terminals"] [aria-pressed]').length === 3 &&
        !document
          .querySelector('[aria-label="Terminals"] [aria-pressed=true]')
          ?.textContent?.match(/^(main|server)$/),
    );
    await takeOver(page);
    await page.keyboard.type('echo second-$((3*3))');
    await page.keyboard.press('Enter');
    await shows(page, `${terminal} .xterm-rows`, 'second-9');
    await click(page, 'main', terminal);
    await shows(page, `${terminal} .xterm-rows`, 'human-42');
    expect(session.terminal('main')).not.toContain('second-9');
  });

  it('the user finds a file in the tree, edits it and saves it into the sandbox', async () => {
    const { page, call } = scene;
    await click(page, 'site', code);
    await click(page, 'index.html', code);
    await shows(page, `${code} .view-lines`, 'A form');
    await click(page, 'poem.txt', code);
    // It is shown where the agent was seen to edit it, if it was seen.
    await shows(page, `${code} .view-lines`, 'line 1');
    await clickOn(page, `${code} .view-line`);
    await chord(page, 'Control', 'Home');
    await shows(page, `${code} .view-lines`, 'a second line that stays');
    await page.keyboard.type('by hand: ');
    await click(page, 'Save', code);
    await shows(page, 'body', 'Saved poem.txt.');
    const read = await call('files.read', { path: 'poem.txt' });
    expect(JSON.stringify(read)).toContain('by hand: line 1');
    await hides(page, code, 'not saved');
  });

  it('shows the plan with its progress, and the usage', async () => {
    const { page } = scene;
    await shows(page, '[aria-label="Plan"]', 'Look at it');
    await shows(page, '#tab-plan', '1/2');
    await clickOn(page, '#tab-usage');
    await shows(page, '[aria-label="Usage"]', /Steps\s+3 of 100/);
    await shows(page, '[aria-label="Usage"]', 'Context');
    await clickOn(page, '#tab-log');
    await fill(page, 'Filter the log', 'plan');
    await shows(page, '[aria-label="Log"]', 'plan.update');
    await clickOn(page, '#tab-browser');
  });

  it('the user clicks and types in the agent’s browser', async () => {
    const { page, call } = scene;
    await click(page, 'Take over', browser);
    await shows(page, browser, 'Hand back');
    await untilInPage(page, () => {
      const image = document.querySelector<HTMLImageElement>('[aria-label="Browser"] img');
      return image?.complete && image.naturalWidth > 0;
    });
    const clickAt = async (part: number) => {
      // Each frame replaces the image element.
      const box = await until('the picture', async () => {
        const picture = await page.$(`${browser} img`);
        const now = await picture?.boundingBox();
        return now && now.height > 0 && now;
      });
      await page.mouse.click(box.x + box.width / 2, box.y + box.height * part);
    };
    await clickAt(0.1);
    await says(/It was pressed/);
    await clickAt(0.32);
    await page.keyboard.type('abc');
    await says(/told abc/);
    await click(page, 'Hand back', browser);
    // Several calls are summarized in one line.
    await shows(page, chat, 'You, in the browser: 2 clicks, typed “abc”');
    await shows(page, chat, 'Read 3 files');
    await untilInPage(page, () => {
      const shown = document.querySelector<HTMLImageElement>('[aria-label="Chat"] img');
      return shown?.complete && shown.naturalWidth > 0;
    });

    async function says(words: RegExp): Promise<void> {
      await eventually(async () => expect((await call('browser.read', {})).text).toMatch(words));
    }
  });

  it('a rejected hunk is reverted when the review is submitted, and the agent receives the reason', async () => {
    const { server, page, session, call } = scene;
    await clickOn(page, '#tab-changes');
    await shows(page, changes, 'a line that nobody wanted');
    await click(
      page,
      'Reject…',
      `${changes} :nth-last-child(1 of li:has([aria-label="Lines of poem.txt"]))`,
    );
    await fill(page, 'Reason', 'Nobody wanted it.');
    await click(page, 'Add to review', changes);
    await shows(page, changes, 'a line that nobody wanted');
    await click(page, 'Submit review', changes);
    await hides(page, changes, 'a line that nobody wanted');
    const told = await session.event(
      (event) => isEvent(event, 'message') && event.args.text.includes('Nobody wanted it.'),
    );
    expect(told.args.text).toContain('poem.txt');
    const text = JSON.stringify(await call('files.read', { path: 'poem.txt' }));
    expect(text).toContain('line 25');
    expect(text).toContain('a second line that stays');
    expect(text).toContain('by hand: line 1');
    await server.client.sessions.message(session.id, { text: 'It is.' });
    await session.finished();
  });

  it('the browser can be used after the end', async () => {
    const { server, page, session, call } = scene;
    await clickOn(page, '#tab-browser');
    await click(page, 'Take over', browser);
    await fill(page, 'Address', 'localhost:8000/?after-the-end');
    await page.keyboard.press('Enter');
    await untilInPage(page, () => {
      const address = document.querySelector<HTMLInputElement>('[aria-label="Address"]');
      return !address?.disabled && address?.value.startsWith('http://localhost:8000/?after');
    });
    expect((await call('browser.read', {})).url).toContain('after-the-end');
    expect((await server.client.sessions.get(session.id)).state).toBe('finished');
  });
});
