import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { ElementHandle, Page } from './chromium.js';
import { inPage } from './in-page.js';
import type { DocumentChanges } from './document-changes.js';

/** A page without a change for so long counts as settled, and how long that is awaited. */
const settledDelayMs = 150;
const longestWaitMs = 3_000;
const mostFrames = 10;
/** How often a document that is not there yet is tried again. */
const tries = 20;

/** Reads pages as text and finds elements by their references, in all their frames. */
export class PageReader {
  readonly #changes: DocumentChanges;
  /** The number of the next reference, over all pages. */
  #next = 1;

  constructor(changes: DocumentChanges) {
    this.#changes = changes;
  }

  title(page: Page): Promise<string> {
    return steadily(page, () => page.title());
  }

  async text(page: Page): Promise<string> {
    const texts: string[] = [];
    for (const frame of page.frames().slice(0, mostFrames)) {
      const main = frame === page.mainFrame();
      const read = () =>
        frame.evaluate(inPage('read', this.#next)) as Promise<{ text: string; next: number }>;
      // A frame inside the page may disappear at any moment; then it has no text.
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
    throw gone(reference);
  }

  /** Gives the element to a function, which is source text as functions that a bundler has touched do not run in a page. */
  async ask(page: Page, reference: string, source: string): Promise<unknown> {
    const expression = `(() => {
      const element = ${inPage('find', reference)};
      return element ? [(${source})(element) ?? null] : null;
    })()`;
    for (const frame of page.frames()) {
      const answer = (await frame.evaluate(expression).catch(() => null)) as [unknown] | null;
      if (answer) return answer[0];
    }
    throw gone(reference);
  }

  /**
   * Resolves when the page has not changed for a moment and is not on its way to another document, or after a few
   * seconds at most.
   */
  async settled(page: Page): Promise<void> {
    const deadline = performance.now() + longestWaitMs;
    const left = () => deadline - performance.now();
    // A popup begins empty; its content follows a moment later.
    while (page.url() === 'about:blank' && left() > longestWaitMs / 2) await sleep(20);
    for (let again = true; again && left() > 0 && !page.isClosed();) {
      const settled = page.evaluate(inPage('settled', settledDelayMs, Math.round(left())));
      // A navigation destroys the observed document; one that hangs is not awaited.
      again = await inTime(
        settled.then(() => this.#changes.isPending(page)),
        left(),
        () => false,
      ).catch(() => true);
      if (again) await sleep(20);
    }
  }
}

function gone(reference: string): AppError {
  return new AppError(
    'not_found',
    `Element ${reference} is no longer on this page. Read the page again and use a reference from there.`,
  );
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
