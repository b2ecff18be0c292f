const { TestEnvironment } = require('jest-environment-jsdom');

/**
 * Fake heights in pixels, since jsdom has no layout: all rows of a virtual list are visible. Tests
 * can replace them.
 */
const clientHeight = 10_000;
const offsetHeight = 20;

/** jsdom with APIs it lacks. `fetch` is provided by the tests: see `rest-stub.ts`. */
class BrowserEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    const { global } = this;
    const { prototype } = global.HTMLElement;
    // jsdom’s own blobs cannot be read.
    Object.assign(global, { Blob, File });
    Object.assign(global, { ReadableStream, Response, TextDecoder, TextEncoder, ResizeObserver });
    global.matchMedia = (media) => ({ ...unchanging, media, matches: false });
    prototype.scrollIntoView = () => undefined;
    global.scrollTo = () => undefined;
    global.URL.createObjectURL = () => 'blob:picture';
    global.URL.revokeObjectURL = () => undefined;
    Object.defineProperty(prototype, 'clientHeight', fake(clientHeight));
    Object.defineProperty(prototype, 'offsetHeight', fake(offsetHeight));
  }
}

const fake = (value) => ({ value, configurable: true, writable: true });

const unchanging = { addEventListener: () => undefined, removeEventListener: () => undefined };

/** Never calls its callback, since sizes do not change in jsdom. */
class ResizeObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}

module.exports = BrowserEnvironment;
