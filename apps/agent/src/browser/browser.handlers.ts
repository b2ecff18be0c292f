import { setTimeout as sleep } from 'node:timers/promises';
import {
  AppError,
  fact,
  type Handlers,
  type OperationInput,
  type OperationOutput,
  type browserOperations,
} from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import { createTurns } from '../files/turns.js';
import type { BrowserOptions } from './browser-options.js';
import type { Page } from './chromium.js';
import { click, choose, press, scroll, type } from './gestures.js';
import { addressOf, openingFailure } from './navigation.js';
import { Notes } from './notes.js';
import { PageReader } from './page-reader.js';
import { Screencast } from './screencast.js';
import { Window } from './window.js';

type Operations = typeof browserOperations;
type PageOutput = OperationOutput<Operations['browser.read']>;
type Act = (page: Page, signal: AbortSignal) => Promise<unknown>;

/** Characters of one answer. */
const answerLength = 20_000;
const longestHistory = 30_000;
/** Pixels. Among many pictures Anthropic takes no larger one, and any model is shown a higher one too small to read. */
const highest = 2_000;

/** The browser's operations, one after the other; each answers with what the page shows afterwards. */
export class BrowserHandlers {
  readonly #inTurn = createTurns();
  readonly #notes = new Notes();
  readonly #reader = new PageReader();
  readonly #screencast: Screencast;
  readonly #window: Window;
  #shown = '';
  #busy = false;

  constructor(private readonly options: BrowserOptions) {
    this.#screencast = new Screencast((frame) => options.sendFrame(frame));
    this.#window = new Window({
      ...options,
      notes: this.#notes,
      onChange: (page, what) => {
        if (what === 'page') void this.#screencast.follow(page);
        else if (page && !this.#busy) void this.#wander(page);
      },
    });
  }

  readonly operations: Handlers<Operations, CallContext> = {
    'browser.open': (input, call) => this.#open(input, call),
    'browser.read': (input, call) => this.#look(call, (page) => this.#read(page, input)),
    'browser.click': (input, call) => this.#act(call, (page) => click(page, this.#reader, input)),
    'browser.type': (input, call) =>
      this.#act(call, async (page) => {
        if (input.key !== undefined) await press(page, this.#reader, input);
        else await type(page, this.#reader, { ...input, workspace: this.options.workspace });
        if (input.submit) await page.keyboard.press('Enter');
      }),
    'browser.select': (input, call) => this.#act(call, (page) => choose(page, this.#reader, input)),
    'browser.scroll': (input, call) => this.#act(call, (page) => scroll(page, this.#reader, input)),
    'browser.back': ({ to }, call) =>
      this.#act(call, async (page) => {
        const options = { timeout: longestHistory, waitUntil: 'domcontentloaded' } as const;
        const went =
          to === 'reload'
            ? await page.reload(options)
            : to === 'forward'
              ? await page.goForward(options)
              : await page.goBack(options);
        if (went === null && to !== 'reload') {
          this.#notes.add(`If the page looks the same: there may be nothing to go ${to} to.`);
        }
      }),
    'browser.wait': (input, call) =>
      this.#act(call, (page, signal) => this.#wait(page, input, signal)),
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

  #open(
    { url, timeout }: OperationInput<Operations['browser.open']>,
    call: CallContext,
  ): Promise<PageOutput> {
    const address = addressOf(url);
    const act: Act = async (page) => {
      const { begun } = this.#window.downloads;
      try {
        await page.goto(address, { timeout: timeout * 1000, waitUntil: 'load' });
      } catch (error) {
        await stopLoading(page);
        if (!(await answers(page))) throw hung;
        await this.#window.downloads.settle();
        const note = openingFailure(address, error, page.url());
        if (this.#window.downloads.begun === begun) this.#notes.add(note);
      }
    };
    return this.#act(call, act, { fresh: true });
  }

  /** Does something to the page, waits for what comes of it, and answers with the page. */
  #act(call: CallContext, act: Act, { fresh = false } = {}): Promise<PageOutput> {
    return this.#inTurn(async () => {
      this.#busy = true;
      try {
        const page = await this.#window.page(fresh);
        await untilAborted(call.signal, act(page, call.signal), page);
        await this.#reader.settled(page);
        await this.#window.downloads.settle();
        const front = await this.#window.page();
        if (front !== page) await this.#reader.settled(front);
        await this.#show(front);
        return await this.#read(front, { format: 'text', offset: 0 });
      } catch (error) {
        throw this.#unlessHung(error);
      } finally {
        this.#busy = false;
      }
    });
  }

  #look<T>(call: CallContext, look: (page: Page) => Promise<T>): Promise<T> {
    const attempt = async () => {
      const page = await this.#window.page();
      try {
        return await untilAborted(call.signal, look(page), page);
      } catch (error) {
        throw this.#unlessHung(error);
      }
    };
    // To look again is harmless, where to click again would not be.
    return this.#inTurn(() =>
      attempt().catch((error: unknown) => {
        if (error !== lost) throw error;
        return attempt();
      }),
    );
  }

  /** A page that hangs would hang whatever is tried next. */
  #unlessHung(error: unknown): unknown {
    if (friendly(error) !== hung) return error;
    this.#window.drop();
    return hung;
  }

  async #read(
    page: Page,
    { format, offset }: OperationInput<Operations['browser.read']>,
  ): Promise<PageOutput> {
    const whole = format === 'html' ? await page.content() : await this.#reader.text(page);
    const end = offset + answerLength;
    return {
      url: page.url(),
      title: await page.title(),
      text: whole.slice(offset, end),
      truncated: whole.length > end,
      notes: this.#notes.take(),
    };
  }

  async #wait(
    page: Page,
    { text, gone, seconds }: OperationInput<Operations['browser.wait']>,
    signal: AbortSignal,
  ): Promise<void> {
    if (text === undefined) return sleep(seconds * 1000, undefined, { signal });
    const deadline = performance.now() + seconds * 1000;
    const there = async () => (await this.#reader.text(page)).includes(text);
    while ((await there()) === gone) {
      if (performance.now() > deadline) {
        const state = gone ? 'is still there' : 'did not show';
        throw new AppError(
          'timeout',
          `“${text}” ${state} after ${seconds} s. Read the page to see why.`,
        );
      }
      await sleep(200, undefined, { signal });
    }
  }

  async #picture(
    page: Page,
    fullPage: boolean,
  ): Promise<OperationOutput<Operations['browser.screenshot']>> {
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
    const image = await this.options.putBlob('image/jpeg', new Uint8Array(jpeg));
    return { url: page.url(), image, width: size.width, height };
  }

  /** The page went somewhere by itself. */
  async #wander(page: Page): Promise<void> {
    await this.#inTurn(async () => {
      await this.#reader.settled(page);
      if (!page.isClosed()) await this.#show(page);
    }).catch(() => undefined);
  }

  /** Writes what the page looks like into the log, when it looks different. */
  async #show(page: Page): Promise<void> {
    const url = page.url();
    if (url === 'about:blank') return;
    const title = await page.title();
    const jpeg = await page.screenshot({ type: 'jpeg', quality: 60 }).catch(() => null);
    // A picture that cannot be kept leaves the address; the page itself is well.
    const screenshot = jpeg
      ? await this.options.putBlob('image/jpeg', new Uint8Array(jpeg)).catch(() => null)
      : null;
    const shown = JSON.stringify([url, title, screenshot]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const message = title ? `${title} (${url})` : url;
    this.options.journal.append(
      fact('agent', 'browser', { args: { url, title, screenshot }, message }),
    );
  }
}

/** What a page does cannot be taken back; it is no longer waited for, and no longer loads. */
async function untilAborted<T>(signal: AbortSignal, work: Promise<T>, page: Page): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, promise]);
  } catch (error) {
    work.catch(() => undefined);
    if (signal.aborted) await stopLoading(page);
    throw friendly(error);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Waited for, so that it does not stop what is opened next; but not for long: a page may hang. */
async function stopLoading(page: Page): Promise<void> {
  const stop = async () => {
    const session = await page.createCDPSession();
    await session.send('Page.stopLoading');
    await session.detach();
  };
  const stopped = stop().catch(() => undefined);
  await Promise.race([stopped, sleep(1_000)]);
}

/** Whether a page that did not load in time still runs. */
async function answers(page: Page): Promise<boolean> {
  const asked = page.evaluate('1').then(
    () => true,
    () => true,
  );
  return Promise.race([asked, sleep(2_000, false)]);
}

const hung = new AppError(
  'timeout',
  'The page does not answer any more and was closed. Open it again, or another one.',
);

const lost = new AppError(
  'unavailable',
  'The page went away while this ran. Read it again to see where the browser is now.',
);

/** Errors of the browser's own protocol, in words. */
function friendly(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  if (/Target closed|Session closed|crashed|detached|Connection closed/i.test(error.message)) {
    return lost;
  }
  if (error.message.includes('protocolTimeout')) return hung;
  return new AppError(
    'unavailable',
    `The browser could not do this: ${error.message.split('\n')[0]}`,
  );
}
