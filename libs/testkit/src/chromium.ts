import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

  /** Opens a path of the dashboard as a person who has the token. */
  async open(server: BelayServer, path = '/', size = { width: 1440, height: 900 }): Promise<Page> {
    if (!this.#browser) throw new Error('Chromium was not started.');
    const context = await this.#browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport(size);
    page.setDefaultTimeout(50_000);
    page.on('pageerror', (error) => this.complaints.push(`${path}: ${String(error)}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!/^(data|blob):/.test(url) && !url.startsWith(server.url))
        this.complaints.push(`left: ${url}`);
    });
    await page.goto(`${server.url}/?token=${server.token}`);
    if (path !== '/') await page.goto(`${server.url}${path}`);
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
  await page.waitForFunction(
    (where: string, pattern: string) => {
      const found = [...document.querySelectorAll<HTMLElement>(where)];
      const all = found.map((element) => element.innerText || element.textContent || '').join('\n');
      return new RegExp(pattern).test(all.replace(/\u00a0/g, ' '));
    },
    polled,
    selector,
    source,
  );
}

const escape = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);

/** Presses the button, link, tab or menu entry with this accessible name, once it is there and enabled. */
export async function press(page: Page, name: string): Promise<void> {
  const handle = await page.waitForFunction(
    (wanted: string) => {
      const roles =
        'button, a, [role=button], [role=tab], [role=menuitem], [role=option], [role=checkbox]';
      return [...document.querySelectorAll<HTMLElement>(roles)].find((element) => {
        const label = element.getAttribute('aria-label') ?? element.innerText;
        const disabled = element.matches(':disabled, [aria-disabled=true]');
        return label.trim() === wanted && !disabled && element.checkVisibility();
      });
    },
    polled,
    name,
  );
  await (handle.asElement() as ElementHandle<Element> | null)?.click();
}
