import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { prepared } from './environment.js';
import { followRequests, pageTimeoutMs, polled } from './page.js';
import { repeatVisits } from './repeat-visits.js';
import type { BelayServer } from './belay-server.js';

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

/** A real Chromium with its own profile. */
export class Chromium {
  #browser: Browser | undefined;
  readonly #profile = mkdtempSync(join(tmpdir(), 'belay-chromium-'));
  /** The folder of downloads. */
  readonly downloads = join(this.#profile, 'downloads');
  /** Errors of scripts, and requests to hosts other than the server. */
  readonly complaints: string[] = [];

  /**
   * Without `motion`, pages see a preference for reduced motion, as animations use processor time.
   * Without `whole`, it is the shell, which uses less of it but has no windows and no notifications.
   */
  constructor(private readonly options: { motion?: boolean; whole?: boolean } = {}) {}

  async start(): Promise<void> {
    // Most tests that use this library have no page, and need not load two hundred modules for one.
    const { default: puppeteer } = await import('puppeteer-core');
    this.#browser = await puppeteer.launch({
      executablePath: prepared(this.options.whole ? 'CHROMIUM' : 'CHROMIUM_SHELL'),
      userDataDir: this.#profile,
      args: this.options.motion ? flags : [...flags, '--force-prefers-reduced-motion'],
      protocolTimeout: 120_000,
    });
  }

  /** Opens a path of the dashboard in a new browser context, logged in with the token. */
  async open(
    server: BelayServer,
    path = '/',
    { width = 1440, height = 900, token = server.token } = {},
  ): Promise<Page> {
    const page = await this.blank({ width, height });
    page.on('pageerror', (error) => this.complaints.push(`${path}: ${String(error)}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!/^(data|blob):/.test(url) && !url.startsWith(server.url))
        this.complaints.push(`left: ${url}`);
    });
    await page.goto(`${server.url}/?token=${token}`);
    // The page may still be the empty one that it was before.
    const isIn = (origin: string) => location.origin === origin && location.pathname !== '/login';
    await page.waitForFunction(isIn, polled, new URL(server.url).origin);
    if (path !== '/') await page.goto(`${server.url}${path}`);
    return page;
  }

  /** Opens a local file; any request to a server counts as a complaint. */
  async openFile(path: string): Promise<Page> {
    const page = await this.blank();
    page.on('pageerror', (error) => this.complaints.push(`${path}: ${String(error)}`));
    page.on('request', (request) => {
      if (/^(https?|wss?):/.test(request.url())) this.complaints.push(`left: ${request.url()}`);
    });
    await page.goto(pathToFileURL(path).href);
    return page;
  }

  /** An empty page in a new browser context. */
  async blank(size = { width: 1440, height: 900 }): Promise<Page> {
    if (!this.#browser) throw new Error('Chromium was not started.');
    const context = await this.#browser.createBrowserContext({
      downloadBehavior: { policy: 'allow', downloadPath: this.downloads },
    });
    const page = await context.newPage();
    await page.setViewport(size);
    page.setDefaultTimeout(pageTimeoutMs);
    repeatVisits(page);
    followRequests(page);
    return page;
  }

  /** Waits until a page has completely saved a file of this name; resolves to its path. */
  async downloaded(name: string | RegExp): Promise<string> {
    const isWanted = (each: string) => (typeof name === 'string' ? each === name : name.test(each));
    const deadline = performance.now() + pageTimeoutMs;
    for (let before = ''; ;) {
      const saved = filesIn(this.downloads);
      const found = saved.find(isWanted);
      const size = found === undefined ? 0 : statSync(join(this.downloads, found)).size;
      const now = `${saved.join()} ${size}`;
      if (found !== undefined && size > 0 && now === before && !/\.crdownload/.test(now))
        return join(this.downloads, found);
      if (performance.now() > deadline) throw new Error(`${name} was not saved, but: ${now}`);
      before = now;
      await sleep(100);
    }
  }

  /** Closes all pages, because an open one uses processor time as long as its session runs. */
  async closePages(): Promise<void> {
    const [_default, ...contexts] = this.#browser?.browserContexts() ?? [];
    await Promise.all(contexts.map((context) => context.close()));
  }

  async dispose(): Promise<void> {
    await this.#browser?.close();
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** The folder does not exist until the first file is saved. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
