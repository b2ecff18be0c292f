import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer, { type Browser, type ElementHandle, type Page } from 'puppeteer-core';
import { prepared } from './environment.js';
import type { BelayServer } from './server-process.js';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--force-color-profile=srgb',
];

/** A real Chromium with a profile of its own. */
export class Chromium {
  #browser: Browser | undefined;
  readonly #profile = mkdtempSync(join(tmpdir(), 'belay-chromium-'));
  /** Where pages save files. */
  readonly downloads = join(this.#profile, 'downloads');
  /** What pages complained about: errors of scripts, and requests that left the server. */
  readonly complaints: string[] = [];

  async start(): Promise<void> {
    this.#browser = await puppeteer.launch({
      executablePath: prepared('CHROMIUM'),
      userDataDir: this.#profile,
      args: flags,
      protocolTimeout: 120_000,
    });
  }

  /** Opens a path of the dashboard as a person who has the token, with a browser of their own. */
  async open(
    server: BelayServer,
    path = '/',
    { width = 1440, height = 900, token = server.token } = {},
  ): Promise<Page> {
    const page = await this.#page({ width, height });
    page.on('pageerror', (error) => this.complaints.push(`${path}: ${String(error)}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!/^(data|blob):/.test(url) && !url.startsWith(server.url))
        this.complaints.push(`left: ${url}`);
    });
    await page.goto(`${server.url}/?token=${token}`);
    if (path !== '/') await page.goto(`${server.url}${path}`);
    return page;
  }

  /** Opens a file of the machine; whatever it asks any server for is a complaint. */
  async openFile(path: string): Promise<Page> {
    const page = await this.#page({ width: 1440, height: 900 });
    page.on('pageerror', (error) => this.complaints.push(`${path}: ${String(error)}`));
    page.on('request', (request) => {
      if (/^(https?|wss?):/.test(request.url())) this.complaints.push(`left: ${request.url()}`);
    });
    await page.goto(pathToFileURL(path).href);
    return page;
  }

  async #page(size: { width: number; height: number }): Promise<Page> {
    if (!this.#browser) throw new Error('Chromium was not started.');
    const context = await this.#browser.createBrowserContext({
      downloadBehavior: { policy: 'allow', downloadPath: this.downloads },
    });
    const page = await context.newPage();
    await page.setViewport(size);
    page.setDefaultTimeout(45_000);
    return page;
  }

  async dispose(): Promise<void> {
    await this.#browser?.close();
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** By the clock, not by animation frames: a page in the background of a busy machine draws none. */
const polled = { polling: 100 };

/** Waits until an element shows a text, without regard to how its white space is drawn. */
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

const seen = async (page: Page, selector: string): Promise<string> =>
  (await page.$$eval(selector, (all) => all.map((each) => (each as HTMLElement).innerText))).join(
    '\n',
  ) || (await textOf(page, 'body'));

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

/** Waits until something that the test asks in the page is true. */
export async function until(page: Page, found: () => unknown): Promise<void> {
  await page.waitForFunction(found, polled);
}

/** What an element shows. */
export const textOf = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, (element) => (element as HTMLElement).innerText);

/** Presses the button, link, tab or menu entry with this accessible name, once it is there and enabled. */
export async function press(page: Page, name: string, within = 'body'): Promise<void> {
  await clickWhenThere(page, () =>
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

/** Presses the first element that a selector finds, once it is there. */
export async function pressOn(page: Page, selector: string): Promise<void> {
  await clickWhenThere(page, () =>
    page.waitForFunction((where: string) => document.querySelector(where), polled, selector),
  );
}

/** Where a text begins that an element shows, a few pixels in. */
export const placeOf = (
  page: Page,
  selector: string,
  text: string,
): Promise<{ x: number; y: number }> =>
  page.$eval(
    selector,
    (element, wanted) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const at = node.textContent?.indexOf(wanted) ?? -1;
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const { x, y, height } = range.getBoundingClientRect();
        return { x: x + 4, y: y + height / 2 };
      }
      throw new Error(`${wanted} is not shown.`);
    },
    text,
  );

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

/** Replaces what the field with this accessible name holds, by keys. */
export async function fill(page: Page, label: string, text: string): Promise<void> {
  await clickWhenThere(page, () =>
    page.waitForFunction(
      (wanted: string) =>
        [...document.querySelectorAll<HTMLInputElement>('input, textarea')].find((field) => {
          const labels = [...(field.labels ?? [])].map((each) => each.innerText.split('\n')[0]);
          return [field.getAttribute('aria-label'), ...labels].includes(wanted) && !field.disabled;
        }),
      polled,
      label,
    ),
  );
  await chord(page, 'Control', 'a');
  await page.keyboard.type(text);
}

/** In the page: resolves when an element is drawn twice at the same place. */
function standsStill(element: Element): Promise<void> {
  return new Promise((done) => {
    let before: string | undefined;
    const look = () => {
      const { x, y } = element.getBoundingClientRect();
      const now = `${x} ${y}`;
      if (now === before) return done();
      before = now;
      requestAnimationFrame(look);
    };
    look();
  });
}

/** What is drawn anew between the finding and the click is looked for again. */
async function clickWhenThere(
  page: Page,
  find: () => Promise<{ asElement(): unknown }>,
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const element = (await find()).asElement() as ElementHandle<Element> | null;
    try {
      await element?.evaluate(standsStill);
      return await element?.click();
    } catch (error) {
      if (tries === 20 || !/detached|not clickable/i.test(String(error))) throw error;
    }
  }
}
