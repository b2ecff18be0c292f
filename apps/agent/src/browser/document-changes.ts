import { inTime } from '@belay/rpc';
import type { HTTPRequest, Page } from './chromium.js';
import { stopLoading, untilStopped } from './navigation.js';
import type { PageNotes } from './page-notes.js';

/** How long a document that an action asked for is awaited, in milliseconds. */
const usualLoadMs = 30_000;

interface Pending {
  request: HTTPRequest;
  over: PromiseWithResolvers<void>;
}

/** Knows from a page’s requests when its main frame is on its way to another document. */
export class DocumentChanges {
  readonly #pending = new WeakMap<Page, Pending>();
  readonly #counts = new WeakMap<Page, number>();
  readonly #notes: PageNotes;
  readonly #longestMs: number;

  constructor(notes: PageNotes, longestMs = usualLoadMs) {
    this.#notes = notes;
    this.#longestMs = longestMs;
  }

  listen(page: Page): void {
    page.on('request', (request) => {
      if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return;
      const over = this.#pending.get(page)?.over ?? Promise.withResolvers();
      this.#pending.set(page, { request, over });
    });
    // A download and an empty answer end here as well: the document stays.
    page.on('requestfailed', (request) => {
      if (request === this.#pending.get(page)?.request) this.#end(page);
    });
    page.on('framenavigated', (frame) => {
      if (frame !== page.mainFrame()) return;
      this.#counts.set(page, this.count(page) + 1);
      this.#end(page);
    });
    page.on('close', () => this.#end(page));
  }

  /** Whether a document was asked for and has not come yet. */
  isPending(page: Page): boolean {
    return this.#pending.has(page);
  }

  /**
   * Waits for a document that was asked for, and tells whether it came. One that does not come is given up and noted,
   * because Chromium answers nothing about a page that waits for its next document.
   */
  async arrived(page: Page, signal: AbortSignal): Promise<boolean> {
    const pending = this.#pending.get(page);
    if (!pending) return false;
    const over = pending.over.promise.then(() => true);
    const came = inTime(over, this.#longestMs, () => false);
    if (await untilStopped(signal, came, page)) return true;
    await stopLoading(page);
    this.#notes.add(
      `${pending.request.url()} did not answer within ${this.#longestMs / 1000} s; the page before it is still open.`,
    );
    return false;
  }

  /** How many documents the page has shown so far. */
  count(page: Page): number {
    return this.#counts.get(page) ?? 0;
  }

  #end(page: Page): void {
    this.#pending.get(page)?.over.resolve();
    this.#pending.delete(page);
  }
}
