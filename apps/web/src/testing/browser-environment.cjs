const { TestEnvironment } = require('jest-environment-jsdom');

/** Heights where there is no layout, in pixels: every row of a list that scrolls is visible. */
const clientHeight = 10_000;
const offsetHeight = 20;

/** jsdom, and what every browser has besides. `fetch` is left to the tests: see `rest-stub.ts`. */
class BrowserEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    const { global } = this;
    const { prototype } = global.HTMLElement;
    Object.assign(global, { ReadableStream, Response, TextDecoder, TextEncoder, ResizeObserver });
    global.matchMedia = (media) => ({ ...unchanging, media, matches: false });
    prototype.scrollIntoView = () => undefined;
    global.scrollTo = () => undefined;
    global.URL.createObjectURL = () => 'blob:picture';
    global.URL.revokeObjectURL = () => undefined;
    Object.defineProperty(prototype, 'clientHeight', { value: clientHeight });
    Object.defineProperty(prototype, 'offsetHeight', { value: offsetHeight });
  }
}

const unchanging = { addEventListener: () => undefined, removeEventListener: () => undefined };

/** Nothing changes its size here. */
class ResizeObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}

module.exports = BrowserEnvironment;
