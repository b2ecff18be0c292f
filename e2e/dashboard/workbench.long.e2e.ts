import { isEvent } from '@belay/protocol';
import { eventually, until } from '@belay/testing';
import type { Page } from 'puppeteer-core';
import { chord, click, clickOn, hasFocus, hides, shows, untilInPage } from '@belay/testkit';
import { panelPlaces } from './panel-places.js';
import { becomes, describeWorkbench, inFront, terminalRows, widthOf } from './workbench-scene.js';

const { terminal } = panelPlaces;

/** Waits until plan and terminal are in the same region, or in different ones. */
const together = (page: Page, wanted: boolean): Promise<void> =>
  eventually(async () => {
    const isOne = await page.evaluate(() => {
      const [plan, terminals] = ['plan', 'terminal'].map((panel) =>
        document.querySelector(`#tab-${panel}`)?.closest('section'),
      );
      return plan !== undefined && plan === terminals;
    });
    expect(isOne).toBe(wanted);
  });

/**
 * Drags one element to another. Each event is sent when the one before has been handled: a drop by the mouse alone is
 * lost when the page has not answered the last movement.
 */
async function dragTo(page: Page, from: string, to: string): Promise<void> {
  const pointOf = async (selector: string) => {
    const element = await page.waitForSelector(selector);
    return (await element?.clickablePoint()) ?? { x: 0, y: 0 };
  };
  await page.setDragInterception(true);
  await page.mouse.dragAndDrop(await pointOf(from), await pointOf(to));
  await page.setDragInterception(false);
}

describeWorkbench('the workbench, rearranged and filled', (scene) => {
  beforeAll(async () => {
    const { server, page, session } = scene;
    const asked = await session.event((event) => isEvent(event, 'approval'));
    await server.client.sessions.answer(session.id, String(asked.args['id']), {
      verdict: 'approved',
    });
    await shows(page, '[aria-label="Chat"]', 'Printed.');
  });

  it('panels are dragged, resized and collapsed; the layout survives a reload and can be reset', async () => {
    const { page } = scene;
    await together(page, false);
    await dragTo(page, '#tab-plan', `section${terminal}`);
    await together(page, true);

    const first = await widthOf(page, 'Chat');
    await dragBorder(page, 120);
    const wide = await widthOf(page, 'Chat');
    expect(wide).toBeGreaterThan(first + 80);
    await page.reload();
    await shows(page, '[aria-label="Chat"]', 'Printed.');
    await becomes(page, 'Chat', (width) => Math.abs(width - wide) < 3);
    await together(page, true);

    await dragBorder(page, -1_000);
    await becomes(page, 'Chat', (width) => width < 40);
    await page.reload();
    await page.waitForSelector('#tab-chat');
    await becomes(page, 'Chat', (width) => width < 40);
    await hides(page, '[aria-label="Chat"]', 'Printed.');
    await clickOn(page, '#tab-chat');
    await shows(page, '[aria-label="Chat"]', 'Printed.');
    await becomes(page, 'Chat', (width) => width > 200);

    await clickOn(page, `section[aria-label="Code"] [aria-label="Move this panel"]`);
    await click(page, 'Reset layout');
    await together(page, false);
    await inFront(page, 'Chat', 'Code', 'Terminal');
    await clickOn(page, '#tab-code', { count: 2 });
    await untilInPage(page, () => document.querySelectorAll('main section').length === 1);
    await click(page, 'Show all panels');
    await shows(page, '[aria-label="Chat"]', 'Printed.');
  });

  it('output that is too long for a reload begins at a whole line, below a notice of what is missing', async () => {
    const { server, page, session } = scene;
    const command = `seq -f "flood-%.0f $(printf %0180d 0)" 12000`;
    await server.client.sessions.call(session.id, 'terminal.run', { command, terminal: 'flood' });
    const showFlood = async () => {
      await clickOn(page, '#tab-terminal');
      await click(page, 'flood', terminal);
      await shows(page, terminalRows, 'flood-12000 0');
    };
    // The output may reach the server later than the result of its command.
    await showFlood();
    await page.reload();
    await showFlood();
    await clickOn(page, `${terminal} .xterm-screen`);
    await chord(page, 'Control', 'f');
    await hasFocus(page, '[aria-label="Search the terminal"]');
    await page.keyboard.type('of earlier output');
    await shows(
      page,
      terminalRows,
      /of earlier output: save the recording to\s+get it\]\s*flood-\d+ 0/,
    );
    await page.keyboard.press('Escape');
    await click(page, 'main', terminal);
  });

  it('headers that are too narrow for their tabs scroll without a scrollbar, with the active tab in view', async () => {
    const { server, page, session } = scene;
    for (let count = 1; count <= 8; count += 1)
      await server.client.sessions.call(session.id, 'terminal.run', {
        command: 'true',
        terminal: `a-terminal-with-a-long-name-${count}`,
      });
    const terminals = '[aria-label="Terminals"]';
    await shows(page, terminals, 'a-terminal-with-a-long-name-8');
    await click(page, 'flood', terminal);
    await showsChosen(page, terminals);
    await click(page, 'main', terminal);
    await showsChosen(page, terminals);

    for (const panel of ['code', 'changes', 'browser', 'plan', 'usage', 'log']) {
      await clickOn(page, `#tab-${panel}`);
      await clickOn(page, `section:has(#tab-${panel}) [aria-label="Move this panel"]`);
      await click(page, `Move ${panel} to the left`, '[role=menu]');
      await page.waitForSelector(`section:has(#tab-chat) #tab-${panel}`);
    }
    await page.setViewport({ width: 800, height: 900 });
    for (const keys of ['1', '8', '1'] as const) {
      await chord(page, 'Alt', keys);
      await showsChosen(page, '[role=tablist]:has(#tab-chat)');
    }
  });
});

/** Waits until a row of tabs that is too narrow shows no scrollbar and all of the selected tab. */
async function showsChosen(page: Page, row: string): Promise<void> {
  await page.waitForFunction(
    (where: string) => {
      const tabs = document.querySelector<HTMLElement>(where);
      const chosen = tabs?.querySelector('[aria-selected=true], [aria-pressed=true]');
      if (!tabs || !chosen) return false;
      const [outer, inner] = [tabs.getBoundingClientRect(), chosen.getBoundingClientRect()];
      const isBare =
        tabs.offsetHeight === tabs.clientHeight && tabs.offsetWidth === tabs.clientWidth;
      const isSeen = inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
      return tabs.scrollWidth > tabs.clientWidth && isBare && isSeen;
    },
    { polling: 100 },
    row,
  );
}

/** Drags the border on the right of the chat by this many pixels. */
async function dragBorder(page: Page, by: number): Promise<void> {
  const box = await (await page.waitForSelector('[role=separator]'))?.boundingBox();
  if (!box) throw new Error('There is no border.');
  await page.mouse.move(box.x, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(Math.max(2, box.x + by), box.y + 200, { steps: 8 });
  await page.mouse.up();
  let before = box.x;
  await until(
    'the border stands at another place',
    async () => {
      const now = (await (await page.$('[role=separator]'))?.boundingBox())?.x ?? box.x;
      const stands = now === before && now !== box.x;
      before = now;
      return stands;
    },
    { intervalMs: 250 },
  );
}
