import { isFact } from '@belay/protocol';
import type { Page } from 'puppeteer-core';
import { Chromium, chord, hides, placeOf, press, pressOn, shows, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start, type Followed } from '../follow.js';
import { run, script } from '../script.js';

const terminal = '[aria-label="Terminal"]';
const rows = `${terminal} .xterm-rows`;
const widthOf = (page: Page, panel: string): Promise<number> =>
  page.$eval(`section[aria-label="${panel}"]`, (element) => (element as HTMLElement).offsetWidth);
const together = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const [plan, terminals] = ['plan', 'terminal'].map((panel) =>
      document.querySelector(`#tab-${panel}`)?.closest('section'),
    );
    return plan === terminals;
  });

describeSystem('the workbench', (server) => {
  const chromium = new Chromium();
  let page: Page;
  let session: Followed;

  beforeAll(async () => {
    await chromium.start();
    const print = `seq -f row-%g. 17; echo see ${server.url}/settings?section=shortcuts; seq -f row-%g. 18 300`;
    const asks = { operation: 'ask', input: { question: 'Is it legible?' } };
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

  it('keys alone reach every control, answer, and come out of a terminal again', async () => {
    await shows(page, '[aria-label="Chat"]', 'Allow once');
    await shows(page, '[aria-label="Code"]', 'Follow');
    expect(await unreachedByTab(page)).toEqual([]);
    expect(await onlyForThePointer(page)).toEqual([]);

    await tabTo(page, 'Allow once');
    await page.keyboard.press('Enter');
    await session.event((event) => isFact(event, 'approve'));
    await shows(page, rows, 'row-300.');
    await shows(page, '[aria-label="Chat"]', 'Printed.');

    await chord(page, 'Alt', '4');
    expect(await focused(page)).toBe('Terminal');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await tabTo(page, 'Take over');
    await page.keyboard.press('Enter');
    await shows(page, terminal, 'you type');
    await page.keyboard.type('echo by-keys-$((6*7))');
    await page.keyboard.press('Enter');
    await shows(page, rows, 'by-keys-42');
    // The program gets Tab, so Tab is no way out.
    await page.keyboard.press('Tab');
    expect(await focused(page)).toMatch(/^Terminal main/);
    await chord(page, 'Alt', '1');
    expect(await focused(page)).toBe('Chat');
    await press(page, 'Hand back', terminal);
    await shows(page, terminal, 'agent types');

    const before = await widthOf(page, 'Chat');
    await page.focus('[role=separator]');
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ArrowRight');
    expect(await widthOf(page, 'Chat')).toBeGreaterThan(before);
  });

  it('a terminal is searched, copied from, and its links lead on', async () => {
    const context = page.browserContext();
    await context.overridePermissions(server.url, ['clipboard-read', 'clipboard-sanitized-write']);
    await hides(page, rows, 'row-17.');
    await pressOn(page, `${terminal} .xterm-screen`);
    await chord(page, 'Control', 'f');
    await page.waitForSelector('[aria-label="Search the terminal"]:focus');
    await page.keyboard.type('row-17.');
    await shows(page, rows, 'row-17.');
    await page.keyboard.press('Escape');
    await until(page, () => !document.querySelector('[aria-label="Search the terminal"]'));

    const word = await placeOf(page, rows, 'row-16.');
    await page.mouse.click(word.x, word.y, { count: 2 });
    await chord(page, 'Control', 'c');
    await until(page, async () => (await navigator.clipboard.readText()) === 'row-16.');

    const link = await placeOf(page, rows, 'http');
    const opened = context.waitForTarget((target) => target.url().includes('section=shortcuts'));
    await page.mouse.move(link.x, link.y);
    await page.waitForSelector(`${terminal} .xterm-cursor-pointer`);
    await page.mouse.click(link.x, link.y);
    const other = await (await opened).page();
    if (!other) throw new Error('The link opened no page.');
    await shows(other, 'main', 'Press a shortcut');
    await other.close();
  });

  it('panels are dragged, resized and collapsed, stay so over a reload, and go back', async () => {
    expect(await together(page)).toBe(false);
    const tab = await page.$('#tab-plan');
    const place = await page.$(`section${terminal}`);
    if (!tab || !place) throw new Error('There is nothing to drag.');
    await place.drop(tab);
    await until(page, () =>
      document.querySelector('#tab-plan')?.closest('section')?.querySelector('#tab-terminal'),
    );

    const first = await widthOf(page, 'Chat');
    await dragBorder(page, 120);
    const wide = await widthOf(page, 'Chat');
    expect(wide).toBeGreaterThan(first + 80);
    await page.reload();
    await shows(page, '[aria-label="Chat"]', 'Printed.');
    expect(Math.abs((await widthOf(page, 'Chat')) - wide)).toBeLessThan(3);
    expect(await together(page)).toBe(true);

    await dragBorder(page, -1_000);
    expect(await widthOf(page, 'Chat')).toBeLessThan(40);
    await page.reload();
    await page.waitForSelector('#tab-chat');
    expect(await widthOf(page, 'Chat')).toBeLessThan(40);
    await hides(page, '[aria-label="Chat"]', 'Printed.');
    await pressOn(page, '#tab-chat');
    await shows(page, '[aria-label="Chat"]', 'Printed.');
    expect(await widthOf(page, 'Chat')).toBeGreaterThan(200);

    await pressOn(page, `section[aria-label="Code"] [aria-label="Move this panel"]`);
    await press(page, 'Put all panels back');
    expect(await together(page)).toBe(false);
    const code = await page.$('#tab-code');
    await code?.click({ count: 2 });
    await until(page, () => document.querySelectorAll('main section').length === 1);
    await press(page, 'Show all panels');
    await shows(page, '[aria-label="Chat"]', 'Printed.');
  });
});

/** Drags the border right of the chat by so many pixels. */
async function dragBorder(page: Page, by: number): Promise<void> {
  const box = await (await page.$('[role=separator]'))?.boundingBox();
  if (!box) throw new Error('There is no border.');
  await page.mouse.move(box.x, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(Math.max(2, box.x + by), box.y + 200, { steps: 8 });
  await page.mouse.up();
}

/** What a screen reader would call the element that has the focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null;
    return (element?.getAttribute('aria-label') ?? element?.innerText ?? '').trim();
  });

async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === name) return;
  }
  throw new Error(`Tab never came to ${name}.`);
}

/** Controls that are seen and enabled, and that a whole round of Tab does not come to. */
async function unreachedByTab(page: Page): Promise<string[]> {
  for (let presses = 0; presses < 150; presses += 1) {
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

/** Elements that look as if they could be pressed and are in nothing that takes the focus. */
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
