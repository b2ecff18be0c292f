import { AppError } from '@belay/protocol';
import {
  startChromium,
  type ChromiumOptions,
  type Dialog,
  type Page,
  type Running,
} from './chromium.js';
import { Downloads } from './downloads.js';
import type { Notes } from './notes.js';

export interface WindowOptions extends ChromiumOptions {
  workspace: string;
  notes: Notes;
  /** Another page is in front now, or the one in front has another address. */
  onChange(page: Page | undefined, what: 'page' | 'address'): void;
}

/**
 * The browser as one window with one page in front: popups come to the front, and give way when they close. A
 * page that crashed or a browser that died is started again at the next use, where it was, and that is noted.
 */
export class Window {
  #running: Promise<Running> | undefined;
  #pages: Page[] = [];
  #address: string | null = null;
  #lost: string | null = null;
  #closed = false;
  readonly downloads: Downloads;

  constructor(private readonly options: WindowOptions) {
    this.downloads = new Downloads(options.workspace, options.notes);
  }

  /** The address in front, or where the browser was when it was lost. */
  get address(): string | null {
    const page = this.#pages.at(-1);
    const url = page && !page.isClosed() ? page.url() : this.#address;
    return url === 'about:blank' ? null : url;
  }

  /** The page in front. A lost one is opened again first, unless `fresh` says that it will go elsewhere. */
  async page(fresh = false): Promise<Page> {
    if (this.#closed) throw new AppError('unavailable', 'The browser is closed.');
    this.#pages = this.#pages.filter((page) => !page.isClosed());
    const front = this.#pages.at(-1);
    if (front) return front;
    const { browser } = await (this.#running ??= this.#start());
    const [first] = this.#lost === null ? await browser.pages() : [];
    const page = first ?? (await browser.newPage());
    this.#show(page);
    await this.#comeBack(page, fresh);
    return page;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = await this.#running?.catch(() => undefined);
    this.downloads.forget();
    await running?.close();
  }

  async #start(): Promise<Running> {
    try {
      const running = await startChromium(this.options);
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
    this.options.onChange(undefined, 'page');
    // Only its profile is left to be removed.
    void running.close().catch(() => undefined);
  }

  /** The page in front hangs: it is closed, and opened again at the next use. */
  drop(): void {
    const front = this.#pages.at(-1);
    if (front) this.#giveUp(front, 'The page hung and was opened again');
  }

  #giveUp(page: Page, what: string): void {
    this.#lose(what);
    this.#pages = this.#pages.filter((other) => other !== page);
    void page.close().catch(() => undefined);
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
      this.options.notes.add(`${lost}.`);
      return;
    }
    this.options.notes.add(`${lost}; ${address} was opened anew and what was typed there is gone.`);
    await page.goto(address, { timeout: 15_000 }).catch(() => undefined);
  }

  #show(page: Page): void {
    this.#pages.push(page);
    const { notes, onChange } = this.options;
    notes.listen(page);
    page.on('dialog', (dialog: Dialog) => void this.#answer(dialog));
    page.on('popup', (popup) => {
      if (!popup) return;
      notes.add('A new window opened and is in front now.');
      this.#show(popup);
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

  /** Dialogs are answered as a person in a hurry would: nothing waits for them. */
  async #answer(dialog: Dialog): Promise<void> {
    const type = dialog.type();
    const text = dialog.message();
    const value = dialog.defaultValue();
    await dialog.accept(type === 'prompt' ? value : undefined).catch(() => undefined);
    const answer = type === 'prompt' ? `OK with “${value}”` : 'OK';
    this.options.notes.add(
      `The page showed ${article(type)} “${text}”; it was answered with ${answer}.`,
    );
  }
}

const article = (type: string) => `${type === 'alert' ? 'an' : 'a'} ${type}`;
