import { browserOperations, type Handlers } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { BrowserHandlers } from './browser.handlers.js';
import type { BrowserOptions } from './browser-options.js';

type Operations = Handlers<typeof browserOperations, CallContext>;

export interface Browser {
  handlers: Operations;
  /** Sets whether a viewer watches; frames are sent only then. */
  watch(on: boolean): void;
  /** The address of the page that is open. */
  page(): string | null;
  close(): Promise<void>;
}

/** The sandbox’s browser. Puppeteer is large, so it is loaded with the first operation. */
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
  const names = Object.keys(browserOperations) as (keyof Operations)[];
  const handlers = Object.fromEntries(
    names.map((name) => [
      name,
      async (...call: [never, CallContext]) => (await open()).operations[name](...call),
    ]),
  ) as Operations;
  return {
    handlers,
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
