import { isEvent } from '@belay/protocol';
import { eventually, until } from '@belay/testing';
import type { Page } from 'puppeteer-core';
import {
  chord,
  Chromium,
  click,
  clickOn,
  clickTerminalLink,
  describeSystem,
  focusOn,
  type Followed,
  hides,
  positionOf,
  run,
  runFromPalette,
  script,
  shows,
  start,
  untilInPage,
  hasFocus,
} from '@belay/testkit';

const terminal = '[aria-label="Terminal"]';
const rows = `${terminal} .xterm-rows`;
const widthOf = (page: Page, panel: string): Promise<number> =>
  page.$eval(`section[aria-label="${panel}"]`, (element) => (element as HTMLElement).offsetWidth);
/** Waits until the width of the panel, in pixels, satisfies the condition. */
const becomes = (
  page: Page,
  panel: string,
  isRight: (width: number) => boolean,
): Promise<unknown> =>
  until(`the right width of ${panel}`, async () => isRight(await widthOf(page, panel)), {
    state: () => widthOf(page, panel),
  });
/** Waits until exactly these panels are in front, one in each region. */
const inFront = (page: Page, ...names: string[]): Promise<void> =>
  eventually(async () => {
    const panels = await page.$$eval('section:has(> div > [role=tablist])', (regions) =>
      regions.map((region) => region.getAttribute('aria-label')),
    );
    expect(panels).toEqual(names);
  });
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

describeSystem('the workbench', (server) => {
  const chromium = new Chromium();
  let page: Page;
  let session: Followed;

  beforeAll(async () => {
    await chromium.start();
    const print = `seq -f row-%g. 17; echo see ${server.url}/settings?section=shortcuts; seq -f row-%g. 18 300`;
    const long = 'Yes, but only if the letters are larger than they are now. '.repeat(4).trim();
    const asks = { operation: 'ask', input: { question: 'Is it legible?', options: [long, 'No'] } };
    const model = script(server.data, [
      { calls: [run(print)] },
      { say: 'Printed.', calls: [asks] },
    ]);
    session = await start(server, { task: 'Print', title: 'Prints', model, approvals: 'ask' });
    page = await chromium.open(server, `/sessions/${session.id}`);
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('the keyboard alone reaches every control, answers, and leaves a terminal again', async () => {
    await shows(page, '[aria-label="Chat"]', 'Allow once');
    await shows(page, '[aria-label="Code"]', 'Follow');
    await inFront(page, 'Chat', 'Code');
    // Each empty panel describes what it will show.
    await shows(page, '[aria-label="Code"]', /Files appear here[^]*a file opens here/);
    await clickOn(page, '#tab-browser');
    await shows(page, '[aria-label="Browser"]', 'Pages that the agent opens appear here');
    await clickOn(page, '#tab-terminal');
    await shows(
      page,
      terminal,
      /The output of the agent’s commands appears here[^]*Open a terminal/,
    );
    await clickOn(page, '#tab-code');
    expect(await unreachedByTab(page)).toEqual([]);
    expect(await onlyForThePointer(page)).toEqual([]);

    await tabTo(page, 'Allow once');
    await page.keyboard.press('Enter');
    await session.event((event) => isEvent(event, 'approve'));
    await shows(page, rows, 'row-300.');
    await shows(page, '[aria-label="Chat"]', 'Printed.');
    await inFront(page, 'Chat', 'Code', 'Terminal');

    await chord(page, 'Alt', '4');
    await focuses(page, /^Terminal$/);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await focuses(page, /^Terminal$/);
    await tabTo(page, 'Take over');
    await page.keyboard.press('Enter');
    await shows(page, terminal, 'You’re in control');
    await focuses(page, /^Terminal main/);
    await page.keyboard.type('echo by-keys-$((6*7))');
    await page.keyboard.press('Enter');
    await shows(page, rows, 'by-keys-42');
    // Tab goes to the program, so it cannot leave the terminal.
    await page.keyboard.press('Tab');
    expect(await focused(page)).toMatch(/^Terminal main/);
    await chord(page, 'Alt', '1');
    await focuses(page, /^Chat$/);
    await click(page, 'Hand back', terminal);
    await shows(page, terminal, 'Agent in control');

    const before = await widthOf(page, 'Chat');
    await focusOn(page, '[role=separator]');
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ArrowRight');
    await becomes(page, 'Chat', (width) => width > before);
  });

  it('a toast covers nothing that can be clicked, and a long answer wraps', async () => {
    await chord(page, 'Alt', '1');
    await focuses(page, /^Chat$/);
    await page.keyboard.press('y');
    await shows(page, '[aria-live=polite]', 'Nothing is waiting for you.');
    expect(await page.evaluate(coveredButtons)).toEqual([]);
    const answers = '[aria-label="Waiting for you"]';
    await shows(page, answers, 'Yes, but only');
    const fits = await page.$eval(answers, (panel) => panel.scrollWidth <= panel.clientWidth);
    expect(fits).toBe(true);
  });

  it('an error covers no control on any screen, and can be read again after it was dismissed', async () => {
    await page.evaluate(closeClipboard);
    for (const width of [1440, 1280, 1024, 390]) {
      await page.setViewport({ width, height: 900 });
      await runFromPalette(page, 'Copy a link');
      await shows(page, '[role=alert]', 'The clipboard is closed');
      await untilInPage(page, noneUnderToasts);
      await click(page, 'Dismiss');
      await untilInPage(page, () => !document.querySelector('[role=alert]'));
    }
    await page.setViewport({ width: 1440, height: 900 });
    await click(page, 'Notices');
    await shows(page, '[role=dialog]', 'The clipboard is closed');
    await page.keyboard.press('Escape');
    await untilInPage(page, () => !document.querySelector('[role=dialog]'));
    await page.evaluate(() => Reflect.deleteProperty(navigator.clipboard, 'writeText'));
    await shows(page, rows, 'row-300.');
  });

  it('a terminal can be searched and copied from, and its links open', async () => {
    const context = page.browserContext();
    await context.overridePermissions(server.url, ['clipboard-read', 'clipboard-sanitized-write']);
    await hides(page, rows, 'row-17.');
    await clickOn(page, `${terminal} .xterm-screen`);
    await chord(page, 'Control', 'f');
    await hasFocus(page, '[aria-label="Search the terminal"]');
    await page.keyboard.type('row-17.');
    await shows(page, rows, 'row-17.');
    await shows(page, `${terminal} [role=status]`, '1 of 1');
    await page.keyboard.press('Escape');
    await untilInPage(page, () => !document.querySelector('[aria-label="Search the terminal"]'));

    // If the terminal is redrawn in between, the clicks land on another row.
    await eventually(async () => {
      const word = await positionOf(page, rows, 'row-16.');
      await page.mouse.click(word.x, word.y, { count: 2 });
      await chord(page, 'Control', 'c');
      const copied = () => page.evaluate(() => navigator.clipboard.readText());
      await eventually(async () => expect(await copied()).toBe('row-16.'), 2_000);
    });

    const isOpened = (target: { url(): string }) => target.url().includes('section=shortcuts');
    const opened = context.waitForTarget(isOpened, { timeout: 90_000 });
    await clickTerminalLink(page, rows, 'http');
    const other = await (await opened).page();
    if (!other) throw new Error('The link opened no page.');
    await shows(other, 'main', 'Click a shortcut');
    await other.close();
  });

  it('panels are dragged, resized and collapsed; the layout survives a reload and can be reset', async () => {
    await together(page, false);
    const tab = await page.waitForSelector('#tab-plan');
    const place = await page.waitForSelector(`section${terminal}`);
    if (!tab || !place) throw new Error('There is nothing to drag.');
    await place.drop(tab);
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

  it('the palette takes the terminal over and hands it back', async () => {
    await chord(page, 'Alt', '1');
    await focuses(page, /^Chat$/);
    await runFromPalette(page, 'Take over the terminal');
    await shows(page, terminal, 'You’re in control');
    await focuses(page, /^Terminal main/);
    await chord(page, 'Alt', '1');
    await focuses(page, /^Chat$/);
    await runFromPalette(page, 'Hand the terminal back');
    await shows(page, terminal, 'Agent in control');
  });

  it('output that is too long for a reload begins at a whole line, below a notice of what is missing', async () => {
    const command = `seq -f "flood-%.0f $(printf %0180d 0)" 12000`;
    await server.client.sessions.call(session.id, 'terminal.run', { command, terminal: 'flood' });
    const showFlood = async () => {
      await clickOn(page, '#tab-terminal');
      await click(page, 'flood', terminal);
      await shows(page, rows, 'flood-12000 0');
    };
    // The output may reach the server later than the result of its command.
    await showFlood();
    await page.reload();
    await showFlood();
    await clickOn(page, `${terminal} .xterm-screen`);
    await chord(page, 'Control', 'f');
    await hasFocus(page, '[aria-label="Search the terminal"]');
    await page.keyboard.type('of earlier output');
    await shows(page, rows, /of earlier output: save the recording to\s+get it\]\s*flood-\d+ 0/);
    await page.keyboard.press('Escape');
    await click(page, 'main', terminal);
  });

  it('headers that are too narrow for their tabs scroll without a scrollbar, with the active tab in view', async () => {
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

/** The accessible name of the focused element. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null;
    return (element?.getAttribute('aria-label') ?? element?.innerText ?? '').trim();
  });

/** Waits until an element with a matching name is focused. */
const focuses = (page: Page, name: RegExp): Promise<void> =>
  eventually(async () => expect(await focused(page)).toMatch(name));

async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 120; count += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === name) return;
  }
  throw new Error(`Tab never came to ${name}.`);
}

/** Controls that are visible and enabled, but never focused in a full cycle of Tab. */
async function unreachedByTab(page: Page): Promise<string[]> {
  for (let count = 0; count < 150; count += 1) {
    await page.keyboard.press('Tab');
    const again = await page.evaluate(() => {
      const { dataset } = document.activeElement as HTMLElement;
      return dataset['reached'] === (dataset['reached'] = 'yes');
    });
    if (again) break;
  }
  return page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        'a[href], button, input, select, textarea, summary, [role=separator]',
      ),
    ]
      .filter(
        (each) =>
          each.checkVisibility({ visibilityProperty: true }) &&
          !each.matches(':disabled, [role=tab][aria-selected=false], [aria-hidden=true]') &&
          !each.dataset['reached'],
      )
      .map((each) => each.outerHTML.slice(0, 120)),
  );
}

/** Elements with a pointer cursor that are not inside a focusable element. */
const onlyForThePointer = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('body *')]
      .filter(
        (each) =>
          getComputedStyle(each).cursor === 'pointer' &&
          each.checkVisibility() &&
          !each.closest('a[href], button, select, summary, input, label, [tabindex], [role=tab]'),
      )
      .map((each) => each.outerHTML.slice(0, 120)),
  );

/** Runs in the page: whether no toast overlaps a tab or a control of the header. */
function noneUnderToasts(): boolean {
  const toast = document.querySelector('[aria-live=polite] [role=alert]')?.getBoundingClientRect();
  const controls = document.querySelectorAll('header :is(a, button), [role=tab]');
  return (
    toast !== undefined &&
    [...controls].every((control) => {
      const { left, right, top, bottom } = control.getBoundingClientRect();
      const beside = right <= toast.left || left >= toast.right;
      return beside || bottom <= toast.top || top >= toast.bottom;
    })
  );
}

/** Runs in the page: makes copying fail with an error as long as most. */
function closeClipboard(): void {
  const reason =
    'The clipboard is closed to this page. Allow it in the settings of your browser, then copy again.';
  navigator.clipboard.writeText = () => Promise.reject(new Error(reason));
}

/** Runs in the page: names of visible buttons that a click would not reach. */
function coveredButtons(): string[] {
  return [...document.querySelectorAll<HTMLElement>('header button, [role=tab]')]
    .filter((button) => button.checkVisibility())
    .filter((button) => {
      const { x, y, width, height } = button.getBoundingClientRect();
      const hit = document.elementFromPoint(x + width / 2, y + height / 2);
      return hit !== null && !button.contains(hit);
    })
    .map((button) => button.ariaLabel ?? button.innerText);
}
