import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickOptions, HTTPRequest, Page } from 'puppeteer-core';
import { clickWhenThere } from './click-when-there.js';

/**
 * How long a page may take to show something, in milliseconds; most of it is needed on busy
 * machines.
 */
export const pageTimeoutMs = 90_000;

/** Polls by time, because a background page on a busy machine may render no animation frames. */
export const polled = { polling: 100, timeout: pageTimeoutMs };

/** Waits until an element shows a text; non-breaking spaces count as spaces. */
export async function shows(page: Page, selector: string, text: string | RegExp): Promise<void> {
  const source = typeof text === 'string' ? escape(text) : text.source;
  const wait = page.waitForFunction(
    (where: string, pattern: string) => {
      const found = [...document.querySelectorAll<HTMLElement>(where)];
      const all = found.map((element) => element.innerText || element.textContent || '').join('\n');
      return new RegExp(pattern).test(all.replace(/\u00a0/g, ' '));
    },
    polled,
    selector,
    source,
  );
  await wait.catch(async (error: unknown) => {
    throw new Error(`${selector} does not show ${source}, but:\n${await seen(page, selector)}`, {
      cause: error,
    });
  });
}

/** What the elements show, else the whole page, else what became of the page’s requests. */
async function seen(page: Page, selector: string): Promise<string> {
  const texts = (where: string) =>
    page.$$eval(where, (all) => all.map((each) => (each as HTMLElement).innerText).join('\n'));
  return (
    (await texts(selector)) ||
    (await texts('body')) ||
    `(an empty page)\n${[...(unanswered.get(page) ?? [])].map(fateOf).join('\n')}`
  );
}

const unanswered = new WeakMap<Page, Set<HTTPRequest>>();

const fateOf = (request: HTTPRequest): string =>
  `${request.failure()?.errorText ?? 'has no answer'}: ${request.url()}`;

/** From now on, failures of `shows` name the requests of the current page that failed or have no answer. */
export function followRequests(page: Page): void {
  const requests = new Set<HTTPRequest>();
  unanswered.set(page, requests);
  page.on('request', (request) => {
    // The requests of the page before are cancelled without an event.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) requests.clear();
    requests.add(request);
  });
  page.on('requestfinished', (request) => requests.delete(request));
}

/** Waits until no request of the current page is without an answer. */
export async function answered(page: Page): Promise<void> {
  const open = () =>
    [...(unanswered.get(page) ?? [])].filter((request) => request.failure() === null);
  const deadline = performance.now() + pageTimeoutMs;
  while (open().length > 0) {
    if (performance.now() > deadline) throw new Error(open().map(fateOf).join('\n'));
    await sleep(100);
  }
}

const escape = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);

/** Waits until no element shows a text. */
export async function hides(page: Page, selector: string, text: string): Promise<void> {
  await page.waitForFunction(
    (where: string, hidden: string) =>
      [...document.querySelectorAll<HTMLElement>(where)].every(
        (element) => !element.innerText.includes(hidden),
      ),
    polled,
    selector,
    text,
  );
}

/** Waits until a condition that is evaluated in the page is true. */
export async function untilInPage(page: Page, found: () => unknown): Promise<void> {
  await page.waitForFunction(found, polled).catch(async (cause: unknown) => {
    throw new Error(`${page.url()} shows:\n${await textOf(page, 'body')}`, { cause });
  });
}

/** The visible text of an element, once it exists. */
export async function textOf(page: Page, selector: string): Promise<string> {
  const shown = await page.waitForFunction(
    (where: string) => {
      const found = document.querySelector<HTMLElement>(where);
      return found && { text: found.innerText };
    },
    polled,
    selector,
  );
  return ((await shown.jsonValue()) as { text: string }).text;
}

/**
 * Clicks the button, link, tab or menu item with this accessible name, once it exists and is
 * enabled.
 */
export async function click(page: Page, name: string, within = 'body'): Promise<void> {
  await clickWhenThere(() =>
    page.waitForFunction(
      (wanted: string, where: string) => {
        const roles =
          'button, a, summary, [role=button], [role=tab], [role=menuitem], [role=option], [role=checkbox], [role=radio], [role=switch]';
        const found = [...document.querySelectorAll<HTMLElement>(where)].flatMap((element) => [
          ...element.querySelectorAll<HTMLElement>(roles),
        ]);
        return found.find((element) => {
          const label = element.getAttribute('aria-label') ?? element.innerText;
          const disabled = element.matches(':disabled, [aria-disabled=true]');
          return label.trim() === wanted && !disabled && element.checkVisibility();
        });
      },
      polled,
      name,
      within,
    ),
  );
}

/** Clicks the first element that matches the selector, once it exists. */
export async function clickOn(
  page: Page,
  selector: string,
  options: ClickOptions = {},
): Promise<void> {
  await clickWhenThere(
    () => page.waitForFunction((where: string) => document.querySelector(where), polled, selector),
    options,
  );
}

/** Expands the first card that contains a text, once it exists. */
export async function unfold(page: Page, within: string, text: string): Promise<void> {
  await page.waitForFunction(
    (where: string, wanted: string) => {
      const cards = [...document.querySelectorAll<HTMLElement>(`${where} [aria-expanded]`)];
      const card = cards.find((each) => each.innerText.includes(wanted));
      if (card?.ariaExpanded === 'false') card.click();
      return card?.ariaExpanded === 'true';
    },
    polled,
    within,
    text,
  );
}

/** Selects a value in the first matching select element, once it has that option. */
export async function choose(page: Page, selector: string, value: string): Promise<void> {
  await page.waitForFunction(
    (where: string, wanted: string) => {
      const field = document.querySelector<HTMLSelectElement>(where);
      return [...(field?.options ?? [])].some((option) => option.value === wanted);
    },
    polled,
    selector,
    value,
  );
  await page.select(selector, value);
}

/** Focuses the first element that matches the selector, once it exists and accepts focus. */
export async function focusOn(page: Page, selector: string): Promise<void> {
  await page.waitForFunction(
    (where: string) => {
      const found = document.querySelector<HTMLElement>(where);
      found?.focus();
      return found !== null && found === document.activeElement;
    },
    polled,
    selector,
  );
}

/** Waits until the focus is on or inside an element that matches the selector. */
export async function hasFocus(page: Page, selector: string): Promise<void> {
  await page.waitForFunction(
    (where: string) => document.activeElement?.closest(where),
    polled,
    selector,
  );
}

/**
 * Resolves to a point a few pixels inside the first character of a text in an element, once the
 * text is shown.
 */
export async function positionOf(
  page: Page,
  selector: string,
  text: string,
): Promise<{ x: number; y: number }> {
  const found = await page.waitForFunction(
    (where: string, wanted: string) => {
      const element = document.querySelector(where);
      const walker = element && document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = walker?.nextNode(); node; node = walker?.nextNode()) {
        const at = node.textContent?.indexOf(wanted) ?? -1;
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const { x, y, height } = range.getBoundingClientRect();
        return { x: x + 4, y: y + height / 2 };
      }
      return undefined;
    },
    polled,
    selector,
    text,
  );
  return (await found.jsonValue()) as { x: number; y: number };
}

/** Clicks a link in a terminal, once the terminal has recognized it. */
export async function clickTerminalLink(page: Page, rows: string, text: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { x, y } = await positionOf(page, rows, text);
    // The terminal ignores a pointer that stays in its cell.
    await page.mouse.move(x + 200, y);
    await page.mouse.move(x, y);
    const options = { polling: 100, timeout: tries * 1_000 };
    const isLink = page.waitForFunction(
      () => document.querySelector('.xterm-cursor-pointer') !== null,
      options,
    );
    try {
      await isLink;
      return await page.mouse.click(x, y);
    } catch (error) {
      if (tries === 12) throw error;
    }
  }
}

/** Presses a key while another is held. */
export async function chord(
  page: Page,
  held: 'Alt' | 'Control',
  key: Parameters<Page['keyboard']['press']>[0],
): Promise<void> {
  await page.keyboard.down(held);
  await page.keyboard.press(key);
  await page.keyboard.up(held);
}

/** Runs a command from the palette, once Enter would run it. */
export async function runFromPalette(page: Page, title: string): Promise<void> {
  await untilInPage(page, () => !document.querySelector('[role=dialog]'));
  await chord(page, 'Control', 'k');
  await hasFocus(page, '[role=dialog] input');
  await page.keyboard.type(title);
  await shows(page, '[role=dialog] [aria-selected=true]', title);
  await page.keyboard.press('Enter');
}

/** Types a value into the field with this accessible name, replacing its content. */
export async function fill(page: Page, label: string, text: string): Promise<void> {
  const find = () =>
    page.waitForFunction(
      (wanted: string) =>
        [...document.querySelectorAll<HTMLInputElement>('input, textarea')].find((field) => {
          const labels = [...(field.labels ?? [])].map((each) => each.innerText.split('\n')[0]);
          return [field.getAttribute('aria-label'), ...labels].includes(wanted) && !field.disabled;
        }),
      polled,
      label,
    );
  for (let tries = 0; tries < 20; tries += 1) {
    const field = await clickWhenThere(find);
    // The field may have been re-rendered just after the click.
    if (await field?.evaluate((element) => element === document.activeElement)) break;
  }
  await chord(page, 'Control', 'a');
  await page.keyboard.type(text);
}
