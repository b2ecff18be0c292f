import { setTimeout as sleep } from 'node:timers/promises';
import {
  AppError,
  excerpt,
  newEvent,
  type Handlers,
  type OperationInput,
  type OperationOutput,
  type browserOperations,
  ignoreError,
} from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { CallContext } from '../call-context.js';
import type { BrowserOptions } from './browser-options.js';
import type { Page } from './chromium.js';
import { changedText, knownAfterRead } from './changed-text.js';
import { evaluate } from './evaluate.js';
import { friendly, hung, lost } from './failures.js';
import { clickElement, chooseOptions, press, scroll, type } from './gestures.js';
import {
  addressOf,
  assertHistory,
  openingFailure,
  responds,
  stopLoading,
  untilStopped,
} from './navigation.js';
import { DocumentChanges } from './document-changes.js';
import { PageNotes } from './page-notes.js';
import { PageReader } from './page-reader.js';
import { drag, hover } from './pointer.js';
import { Screencast } from './screencast.js';
import { upload } from './upload.js';
import { BrowserWindow } from './browser-window.js';

type Operations = typeof browserOperations;
type PageOutput = OperationOutput<'browser.read'>;
type Act = (page: Page, signal: AbortSignal) => Promise<unknown>;

/** The maximum length of one result: of a reading, and of an action, which shows a part. */
const maxCharacters = { read: 20_000, act: 8_000 };
const longestHistory = 30_000;
/** How many documents in a row an action follows, each of which came while the one before it was shown. */
const mostRedirects = 5;
/**
 * Pixels. In requests with many pictures, Anthropic accepts no larger ones, and models get higher ones scaled down
 * until they are unreadable.
 */
const highest = 2_000;

/** The browser’s operations, run one after the other; each returns the page’s resulting state. */
export class BrowserHandlers {
  readonly #options: BrowserOptions;
  readonly #mutex = new Mutex();
  readonly #notes = new PageNotes();
  readonly #changes: DocumentChanges;
  readonly #reader: PageReader;
  readonly #screencast: Screencast;
  readonly #window: BrowserWindow;
  #shown = '';
  /** The text that the model was last shown, from its beginning, and of which page. */
  #known: { page: Page; text: string } | null = null;
  #busy = false;
  /** The call that uses the browser now. */
  #call = '';

  constructor(options: BrowserOptions) {
    this.#options = options;

    this.#changes = new DocumentChanges(this.#notes, options.loadMs);
    this.#reader = new PageReader(this.#changes);
    this.#screencast = new Screencast((frame) => options.sendFrame(frame));
    this.#window = new BrowserWindow({
      ...options,
      sidecar: () => options.sidecar(this.#call),
      notes: this.#notes,
      changes: this.#changes,
      onChange: (page, what) => {
        if (what === 'page') void this.#screencast.follow(page);
        else if (page && !this.#busy) void this.#navigated(page);
      },
    });
  }

  readonly operations: Handlers<Operations, CallContext> = {
    'browser.open': (input, call) => this.#open(input, call),
    'browser.read': (input, call) =>
      this.#look(call, async (page) => {
        const { format, offset } = input;
        const whole = format === 'html' ? await page.content() : await this.#reader.text(page);
        const end = offset + maxCharacters.read;
        if (format === 'text')
          this.#remember(
            call,
            page,
            knownAfterRead(this.#knownOf(page), whole, { from: offset, to: end }),
          );
        const part = { text: whole.slice(offset, end), truncated: whole.length > end };
        return this.#output(page, part);
      }),
    'browser.click': (input, call) =>
      this.#act(call, (page) => clickElement(page, this.#reader, input)),
    'browser.hover': (input, call) => this.#act(call, (page) => hover(page, this.#reader, input)),
    'browser.drag': (input, call) => this.#act(call, (page) => drag(page, this.#reader, input)),
    'browser.upload': (input, call) =>
      this.#act(call, (page) =>
        upload(page, this.#reader, { ...input, workspace: this.#options.workspace }),
      ),
    'browser.evaluate': async ({ script }, call) => {
      let value = '';
      const after = await this.#act(call, async (page) => {
        value = await evaluate(page, script);
      });
      return { ...after, value };
    },
    'browser.resize': (size, call) =>
      this.#act(call, async (page) => {
        await this.#window.resize(page, size);
        await this.#screencast.resized(size);
      }),
    'browser.type': (input, call) =>
      this.#act(call, async (page) => {
        if (input.key !== undefined) await press(page, this.#reader, input);
        else await type(page, this.#reader, { ...input, workspace: this.#options.workspace });
        if (input.submit) await page.keyboard.press('Enter');
      }),
    'browser.select': (input, call) =>
      this.#act(call, (page) => chooseOptions(page, this.#reader, input)),
    'browser.scroll': (input, call) => this.#act(call, (page) => scroll(page, this.#reader, input)),
    'browser.back': ({ to }, call) =>
      this.#act(call, async (page) => {
        const options = { timeout: longestHistory, waitUntil: 'domcontentloaded' } as const;
        if (to === 'reload') return page.reload(options);
        await assertHistory(page, to);
        return to === 'forward' ? page.goForward(options) : page.goBack(options);
      }),
    'browser.wait': (input, call) =>
      this.#act(call, async (page, signal) => {
        const ends = AbortSignal.any([signal, ...(call.userWrote ? [call.userWrote] : [])]);
        await this.#wait(page, input, ends).catch((error: unknown) => {
          if (signal.aborted || !ends.aborted) throw error;
          this.#notes.add('The wait ended early because the user sent a message.');
        });
      }),
    'browser.screenshot': ({ fullPage }, call) =>
      this.#look(call, (page) => this.#picture(page, fullPage)),
    'browser.console': ({ limit }) => Promise.resolve({ messages: this.#notes.console(limit) }),
  };

  watch(on: boolean): void {
    void this.#screencast.want(on);
  }

  page(): string | null {
    return this.#window.address;
  }

  async close(): Promise<void> {
    await this.#screencast.want(false);
    await this.#window.close();
  }

  #open({ url, timeout }: OperationInput<'browser.open'>, call: CallContext): Promise<PageOutput> {
    const address = addressOf(url);
    const act: Act = async (page) => {
      const { begun } = this.#window.downloads;
      try {
        await page.goto(address, { timeout: timeout * 1000, waitUntil: 'load' });
      } catch (error) {
        if (friendly(error) === lost && (await this.#window.closes(page))) throw lost;
        if (this.#window.isLost) throw lost;
        await stopLoading(page);
        if (!(await responds(page))) throw hung;
        await this.#window.downloads.settle();
        const note = openingFailure(address, error, page.url());
        if (this.#window.downloads.begun === begun) this.#notes.add(note);
      }
    };
    return this.#act(call, act, { fresh: true }).catch((error: unknown) => {
      if (error !== lost) throw error;
      // The window in front was closing, or its page crashed: the window behind it, or a new one, opens the address.
      return this.#act(call, act, { fresh: true });
    });
  }

  /** Acts on the page, waits for the effect, and returns the page. */
  #act(call: CallContext, act: Act, { fresh = false } = {}): Promise<PageOutput> {
    return this.#mutex.runExclusive(async () => {
      this.#call = call.id;
      this.#busy = true;
      try {
        const page = await this.#window.page(fresh);
        if (!fresh) await this.#changes.arrived(page, call.signal);
        await untilStopped(call.signal, act(page, call.signal), page).catch(
          async (error: unknown) => {
            // A click that closes its own window has succeeded.
            if (fresh || error !== lost || !(await this.#window.closes(page))) throw error;
          },
        );
        if (!page.isClosed()) await this.#settled(page, call.signal);
        await this.#window.downloads.settle();
        if (fresh && this.#window.isLost) throw lost;
        const front = await this.#window.page();
        if (front !== page) await this.#settled(front, call.signal);
        await this.#showSettled(front, call.signal);
        return await this.#after(call, front);
      } catch (error) {
        throw this.#inWords(error);
      } finally {
        this.#busy = false;
      }
    });
  }

  #look<T>(call: CallContext, look: (page: Page) => Promise<T>): Promise<T> {
    const attempt = async () => {
      const page = await this.#window.page();
      try {
        await this.#changes.arrived(page, call.signal);
        return await untilStopped(call.signal, look(page), page);
      } catch (error) {
        throw this.#inWords(error);
      }
    };
    // A repeated read is harmless; a repeated click would not be.
    return this.#mutex.runExclusive(() => {
      this.#call = call.id;
      return attempt().catch((error: unknown) => {
        if (error !== lost) throw error;
        return attempt();
      });
    });
  }

  /** The error for the caller. A hanging page is dropped, because it would block the next operation, too. */
  #inWords(error: unknown): unknown {
    const known = friendly(error);
    if (known === hung) this.#window.drop();
    return known;
  }

  /** The page after an action. A model is not shown again what it was shown of the same page. */
  async #after(call: CallContext, page: Page): Promise<PageOutput> {
    const whole = await this.#reader.text(page);
    const before = call.source === 'agent' ? this.#knownOf(page) : null;
    const { known, ...part } = changedText(before, whole, maxCharacters.act);
    this.#remember(call, page, known);
    return this.#output(page, part);
  }

  #knownOf(page: Page): string | null {
    return this.#known?.page === page ? this.#known.text : null;
  }

  #remember({ source }: CallContext, page: Page, text: string | null): void {
    if (source === 'agent') this.#known = text === null ? null : { page, text };
  }

  async #output(page: Page, part: Pick<PageOutput, 'text' | 'truncated'>): Promise<PageOutput> {
    return {
      url: page.url(),
      title: await this.#reader.title(page),
      ...part,
      notes: this.#notes.take(),
      console: this.#notes.takeMessages(),
    };
  }

  async #wait(
    page: Page,
    { text, gone, seconds }: OperationInput<'browser.wait'>,
    signal: AbortSignal,
  ): Promise<void> {
    if (text === undefined) return sleep(seconds * 1000, undefined, { signal });
    const deadline = performance.now() + seconds * 1000;
    const there = async () => (await this.#reader.text(page)).includes(text);
    while ((await there()) === gone) {
      if (performance.now() > deadline) {
        const state = gone ? 'is still there' : 'did not appear';
        throw new AppError(
          'timeout',
          `“${text}” ${state} after ${seconds} s. Read the page to see why.`,
        );
      }
      await sleep(200, undefined, { signal });
    }
  }

  async #picture(page: Page, fullPage: boolean): Promise<OperationOutput<'browser.screenshot'>> {
    const size = (await page.evaluate(
      fullPage
        ? '({ width: innerWidth, height: document.documentElement.scrollHeight })'
        : '({ width: innerWidth, height: innerHeight })',
    )) as { width: number; height: number };
    const height = Math.min(size.height, highest);
    const clip = { x: 0, y: 0, width: size.width, height };
    const jpeg = await page.screenshot({
      type: 'jpeg',
      quality: 80,
      ...(fullPage && { clip, captureBeyondViewport: true }),
    });
    const image = await this.#options.putBlob('image/jpeg', new Uint8Array(jpeg));
    return { url: page.url(), image, width: size.width, height };
  }

  /** The page navigated by itself. */
  async #navigated(page: Page): Promise<void> {
    await this.#mutex
      .runExclusive(async () => {
        await this.#reader.settled(page);
        // Its next document is on the way, and is shown when it is there.
        if (!page.isClosed() && !this.#changes.isPending(page)) await this.#show(page);
      })
      .catch(ignoreError('the page is gone again'));
  }

  async #settled(page: Page, signal: AbortSignal): Promise<void> {
    await this.#reader.settled(page);
    if (await this.#changes.arrived(page, signal)) await this.#reader.settled(page);
  }

  /** Shows the settled page; again when another document came meanwhile, as after a redirect by script. */
  async #showSettled(page: Page, signal: AbortSignal): Promise<void> {
    for (let left = mostRedirects; left > 0; left--) {
      const documents = this.#changes.count(page);
      await this.#show(page);
      if (page.isClosed() || this.#changes.count(page) === documents) return;
      await this.#settled(page, signal);
    }
  }

  /** Appends the page’s address, title and picture to the log when one of them changed. */
  async #show(page: Page): Promise<void> {
    const url = excerpt(page.url(), 10_000);
    if (url === 'about:blank') return;
    const title = excerpt(await this.#reader.title(page), 1_000);
    const jpeg = await page.screenshot({ type: 'jpeg', quality: 60 }).catch(() => null);
    // Without a stored picture the event still has the address.
    const screenshot = jpeg
      ? await this.#options.putBlob('image/jpeg', new Uint8Array(jpeg)).catch(() => null)
      : null;
    const shown = JSON.stringify([url, title, screenshot]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const message = title ? `${title} (${url})` : url;
    this.#options.writer.append(
      newEvent('agent', 'browser', { args: { url, title, screenshot }, message }),
    );
  }
}
