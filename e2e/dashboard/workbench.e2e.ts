import { isEvent } from '@belay/protocol';
import { eventually } from '@belay/testing';
import type { Page } from 'puppeteer-core';
import {
  chord,
  click,
  clickOn,
  clickTerminalLink,
  focusOn,
  hasFocus,
  hides,
  positionOf,
  runFromPalette,
  shows,
  untilInPage,
} from '@belay/testkit';
import { panelPlaces } from './panel-places.js';
import { becomes, describeWorkbench, inFront, terminalRows, widthOf } from './workbench-scene.js';

const { terminal } = panelPlaces;

// workbench.long.e2e.ts has layouts, long output and narrow headers.
describeWorkbench('the workbench', (scene) => {
  it('the keyboard alone reaches every control, answers, and leaves a terminal again', async () => {
    const { page, session } = scene;
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
    await shows(page, terminalRows, 'row-300.');
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
    await shows(page, terminalRows, 'by-keys-42');
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
    const { page } = scene;
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
    const { page } = scene;
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
    await shows(page, terminalRows, 'row-300.');
  });

  it('a terminal can be searched and copied from, and its links open', async () => {
    const { server, page } = scene;
    const context = page.browserContext();
    await context.overridePermissions(server.url, ['clipboard-read', 'clipboard-sanitized-write']);
    await hides(page, terminalRows, 'row-17.');
    await clickOn(page, `${terminal} .xterm-screen`);
    await chord(page, 'Control', 'f');
    await hasFocus(page, '[aria-label="Search the terminal"]');
    await page.keyboard.type('row-17.');
    await shows(page, terminalRows, 'row-17.');
    await shows(page, `${terminal} [role=status]`, '1 of 1');
    await page.keyboard.press('Escape');
    await untilInPage(page, () => !document.querySelector('[aria-label="Search the terminal"]'));

    // If the terminal is redrawn in between, the clicks land on another row.
    await eventually(async () => {
      const word = await positionOf(page, terminalRows, 'row-16.');
      await page.mouse.click(word.x, word.y, { count: 2 });
      await chord(page, 'Control', 'c');
      const copied = () => page.evaluate(() => navigator.clipboard.readText());
      await eventually(async () => expect(await copied()).toBe('row-16.'), 2_000);
    });

    const isOpened = (target: { url(): string }) => target.url().includes('section=shortcuts');
    const opened = context.waitForTarget(isOpened, { timeout: 90_000 });
    await clickTerminalLink(page, terminalRows, 'http');
    const other = await (await opened).page();
    if (!other) throw new Error('The link opened no page.');
    await shows(other, 'main', 'Click a shortcut');
    await other.close();
  });

  it('the palette takes the terminal over and hands it back', async () => {
    const { page } = scene;
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
});

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
