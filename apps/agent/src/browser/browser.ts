import type { Handlers, browserOperations } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { BrowserHandlers } from './browser.handlers.js';
import type { BrowserOptions } from './browser-options.js';

type Operations = Handlers<typeof browserOperations, CallContext>;

export interface Browser {
  handlers: Operations;
  /** Whether a viewer watches: only then frames are sent. */
  watch(on: boolean): void;
  /** The address of the page that is open. */
  page(): string | null;
  close(): Promise<void>;
}

/** The sandbox’s browser. Puppeteer is large: it is loaded with the first operation. */
export function createBrowser(options: BrowserOptions): Browser {
  let opened: Promise<BrowserHandlers> | undefined;
  let current: BrowserHandlers | undefined;
  let watched = false;
  const open = () =>
    (opened ??= import('./browser.handlers.js').then(({ BrowserHandlers }) => {
      current = new BrowserHandlers(options);
      current.watch(watched);
      return current;
    }));
  return {
    handlers: {
      'browser.open': async (input, call) => (await open()).operations['browser.open'](input, call),
      'browser.read': async (input, call) => (await open()).operations['browser.read'](input, call),
      'browser.click': async (input, call) =>
        (await open()).operations['browser.click'](input, call),
      'browser.hover': async (input, call) =>
        (await open()).operations['browser.hover'](input, call),
      'browser.drag': async (input, call) => (await open()).operations['browser.drag'](input, call),
      'browser.upload': async (input, call) =>
        (await open()).operations['browser.upload'](input, call),
      'browser.evaluate': async (input, call) =>
        (await open()).operations['browser.evaluate'](input, call),
      'browser.resize': async (input, call) =>
        (await open()).operations['browser.resize'](input, call),
      'browser.type': async (input, call) => (await open()).operations['browser.type'](input, call),
      'browser.select': async (input, call) =>
        (await open()).operations['browser.select'](input, call),
      'browser.scroll': async (input, call) =>
        (await open()).operations['browser.scroll'](input, call),
      'browser.back': async (input, call) => (await open()).operations['browser.back'](input, call),
      'browser.wait': async (input, call) => (await open()).operations['browser.wait'](input, call),
      'browser.screenshot': async (input, call) =>
        (await open()).operations['browser.screenshot'](input, call),
      'browser.console': async (input, call) =>
        (await open()).operations['browser.console'](input, call),
    },
    watch(on) {
      watched = on;
      current?.watch(on);
    },
    page: () => current?.page() ?? null,
    async close() {
      if (opened) await (await opened).close();
    },
  };
}
