import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@belay/protocol';
import type { ElementHandle, Page } from './chromium.js';
import { inPage } from './page-script.js';

/** Milliseconds without a change after which a page counts as settled, and how long is waited for that. */
const quiet = 150;
const most = 3_000;
const mostFrames = 10;
/** A new document is not there yet: how often that is tried again. */
const tries = 20;

/** Reads pages as text and finds elements by their references, in all their frames. */
export class PageReader {
  /** The number of the next reference, over all pages. */
  #next = 1;

  async text(page: Page): Promise<string> {
    const texts: string[] = [];
    for (const frame of page.frames().slice(0, mostFrames)) {
      const main = frame === page.mainFrame();
      const read = () =>
        frame.evaluate(inPage('read', this.#next)) as Promise<{ text: string; next: number }>;
      // A frame inside the page may go at any moment; then it has no text.
      const found = main ? await steadily(page, read) : await read().catch(() => null);
      if (!found) continue;
      this.#next = Math.max(this.#next, found.next);
      if (main) texts.push(found.text);
      else if (found.text) texts.push(`--- frame ${frame.url()}\n${found.text}`);
    }
    return texts.join('\n\n');
  }

  /** Throws `not_found` when the element is gone. */
  async element(page: Page, reference: string): Promise<ElementHandle> {
    for (const frame of page.frames()) {
      const handle = await frame.evaluateHandle(inPage('find', reference)).catch(() => null);
      const element = handle?.asElement();
      if (element) return element as ElementHandle;
    }
    throw new AppError(
      'not_found',
      `There is no element ${reference} on this page any more. Read the page again and use a reference from there.`,
    );
  }

  /** Resolves when the page has been quiet for a moment, or after a few seconds at most. */
  async settled(page: Page): Promise<void> {
    const deadline = performance.now() + most;
    // What a click sets off begins in a later turn of the page's event loop.
    for (let again = true; again && performance.now() < deadline;) {
      const rest = Math.max(quiet, Math.round(deadline - performance.now()));
      again = await page
        .evaluate(inPage('settled', quiet, rest))
        .then(() => false)
        .catch(() => !page.isClosed());
      if (again) await sleep(20);
    }
  }
}

/** A navigation under way destroys the document that is being read: then the next one is. */
async function steadily<T>(page: Page, read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (attempt >= tries || page.isClosed()) throw error;
      await sleep(50);
    }
  }
}
