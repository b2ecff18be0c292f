import { AppError, ignoreError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import {
  startChromium,
  viewport,
  type Browser,
  type ChromiumOptions,
  type Dialog,
  type Page,
  type Running,
} from './chromium.js';
import { Downloads } from './downloads.js';
import type { DocumentChanges } from './document-changes.js';
import type { PageNotes } from './page-notes.js';

const closingMs = 1_000;
/** How long a new page is awaited before another one is opened. */
const newPageMs = 5_000;

export interface BrowserWindowOptions extends ChromiumOptions {
  workspace: string;
  notes: PageNotes;
  changes: DocumentChanges;
  /** Called when another page is in front, or the page in front has another address. */
  onChange(page: Page | undefined, what: 'page' | 'address'): void;
}

/**
 * The browser as one window with one page in front: popups come to the front, and give way when they close. After a
 * crash of a page or the browser, the next use reopens the last address, and this is noted.
 */
export class BrowserWindow {
  readonly #options: BrowserWindowOptions;
  #running: Promise<Running> | undefined;
  #pages: Page[] = [];
  #address: string | null = null;
  #lost: string | null = null;
  #closed = false;
  #view: View = { ...viewport, mobile: false };
  readonly downloads: Downloads;

  constructor(options: BrowserWindowOptions) {
    this.#options = options;

    this.downloads = new Downloads(options.workspace, options.notes);
  }

  /** The address in front, or the last address before the browser was lost. */
  get address(): string | null {
    const page = this.#pages.at(-1);
    const url = page && !page.isClosed() ? page.url() : this.#address;
    return url === 'about:blank' ? null : url;
  }

  /** The page in front. A lost page is reopened first, unless it is about to be navigated anyway (`fresh`). */
  async page(fresh = false): Promise<Page> {
    if (this.#closed) throw new AppError('unavailable', 'The browser is closed.');
    this.#pages = this.#pages.filter((page) => !page.isClosed());
    const front = this.#pages.at(-1);
    if (front) return front;
    const { browser } = await (this.#running ??= this.#start());
    const [first] = this.#lost === null ? await browser.pages() : [];
    const page = first ?? (await newPage(browser));
    this.#show(page);
    await this.#fit(page);
    await this.#comeBack(page, fresh);
    return page;
  }

  /** Whether the page in front crashed or hung, or the browser died: the next use opens it again. */
  get isLost(): boolean {
    return this.#lost !== null && this.#pages.every((page) => page.isClosed());
  }

  /**
   * Whether a page closes by itself. Its end is reported slightly later than the failure of the code that ran in it.
   */
  async closes(page: Page): Promise<boolean> {
    if (!page.isClosed()) {
      const closed = new Promise((resolve) => page.once('close', resolve));
      await inTime(closed, closingMs, () => undefined);
    }
    return page.isClosed() && this.#lost === null;
  }

  /** Sets the size of the page in front, and of later pages. */
  async resize(page: Page, view: View): Promise<void> {
    this.#view = view;
    await page.setViewport(viewportOf(view));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = await this.#running?.catch(ignoreError('it never started'));
    this.downloads.forget();
    await running?.close();
  }

  async #start(): Promise<Running> {
    try {
      const running = await startChromium(this.#options);
      running.browser.once('disconnected', () => this.#died(running));
      await this.downloads.listen(running.browser);
      return running;
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }

  #died(running: Running): void {
    if (this.#closed) return;
    this.#lose('The browser died and was started again');
    this.#running = undefined;
    this.#pages = [];
    this.downloads.forget();
    this.#options.onChange(undefined, 'page');
    void running.close().catch(ignoreError('only its profile is left to remove'));
  }

  /** Closes the hanging page in front; the next use opens it again. */
  drop(): void {
    const front = this.#pages.at(-1);
    if (front) this.#giveUp(front, 'The page hung and was opened again');
  }

  #giveUp(page: Page, what: string): void {
    // A page that was dropped as hanging may report its crash only now.
    if (!this.#pages.includes(page)) return;
    this.#lose(what);
    this.#pages = this.#pages.filter((other) => other !== page);
    void page.close().catch(ignoreError('a page that hangs may not close'));
  }

  #lose(what: string): void {
    this.#address = this.address;
    this.#lost = what;
  }

  async #comeBack(page: Page, fresh: boolean): Promise<void> {
    const lost = this.#lost;
    this.#lost = null;
    if (lost === null) return;
    const address = this.#address;
    if (fresh || address === null) {
      this.#options.notes.add(`${lost}.`);
      return;
    }
    this.#options.notes.add(
      `${lost}; ${address} was opened again, and what was typed there is lost.`,
    );
    await page
      .goto(address, { timeout: 15_000 })
      .catch(ignoreError('the page shows its own error'));
  }

  /** A new page has the size from the browser’s start. */
  async #fit(page: Page): Promise<void> {
    const { width, height, mobile } = this.#view;
    if (mobile || width !== viewport.width || height !== viewport.height) {
      await page.setViewport(viewportOf(this.#view));
    }
  }

  #show(page: Page): void {
    this.#pages.push(page);
    const { notes, changes, onChange } = this.#options;
    notes.listen(page);
    changes.listen(page);
    page.on('dialog', (dialog: Dialog) => void this.#answer(dialog));
    page.on('popup', (popup) => {
      if (!popup) return;
      notes.add('A new window opened and is in front now.');
      this.#show(popup);
      void this.#fit(popup).catch(ignoreError('the window is closed again'));
    });
    page.on('error', () => this.#giveUp(page, 'The page crashed and was opened again'));
    page.on('close', () => {
      if (this.#pages.at(-1) === page && this.#pages.length > 1) {
        notes.add('The window in front was closed; the one before it is in front again.');
      }
      this.#pages = this.#pages.filter((other) => other !== page);
      onChange(this.#pages.at(-1), 'page');
    });
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame() && this.#pages.at(-1) === page) onChange(page, 'address');
    });
    onChange(page, 'page');
  }

  /** Accepts a dialog at once, so that nothing waits for it. */
  async #answer(dialog: Dialog): Promise<void> {
    const type = dialog.type();
    const text = dialog.message();
    const value = dialog.defaultValue();
    await dialog
      .accept(type === 'prompt' ? value : undefined)
      .catch(ignoreError('the dialog is gone'));
    const answer = type === 'prompt' ? `OK with “${value}”` : 'OK';
    this.#options.notes.add(
      `The page showed ${article(type)} “${text}”; it was answered with ${answer}.`,
    );
  }
}

/**
 * A new page whose renderer has died is never reported, for example if it got the spare renderer after a crash; after
 * a while another page is opened.
 */
async function newPage(browser: Browser): Promise<Page> {
  const first = browser.newPage();
  const page = await inTime(first, newPageMs, () => null);
  if (page) return page;
  first.then((late) => late.close()).catch(ignoreError('it never began'));
  return browser.newPage();
}

interface View {
  width: number;
  height: number;
  mobile: boolean;
}

const viewportOf = ({ width, height, mobile }: View) => ({
  width,
  height,
  isMobile: mobile,
  hasTouch: mobile,
});

const article = (type: string) => `${type === 'alert' ? 'an' : 'a'} ${type}`;
