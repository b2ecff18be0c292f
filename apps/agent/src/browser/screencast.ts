import type { Frame } from './browser-options.js';
import type { CDPSession, Page } from './chromium.js';
import { viewport } from './chromium.js';

const quality = 60;
/** Milliseconds between frames, at least. */
const interval = 50;

/** Live pictures of one page at a time, while they are wanted. The browser makes none while nothing changes. */
export class Screencast {
  #wanted = false;
  #page: Page | undefined;
  #session: CDPSession | undefined;

  constructor(private readonly send: (frame: Frame) => Promise<void>) {}

  async want(wanted: boolean): Promise<void> {
    if (this.#wanted === wanted) return;
    this.#wanted = wanted;
    await this.#renew();
  }

  /** From now on it is this page that is shown. */
  async follow(page: Page | undefined): Promise<void> {
    if (this.#page === page) return;
    this.#page = page;
    await this.#renew();
  }

  async #renew(): Promise<void> {
    const before = this.#session;
    this.#session = undefined;
    // A session of a page that is gone is gone too.
    await before?.detach().catch(() => undefined);
    const page = this.#page;
    if (!this.#wanted || !page || page.isClosed()) return;
    const session = await page.createCDPSession().catch(() => undefined);
    if (!session || this.#session || page !== this.#page) {
      await session?.detach().catch(() => undefined);
      return;
    }
    this.#session = session;
    session.on('Page.screencastFrame', ({ data, sessionId, metadata }) => {
      const jpeg = new Uint8Array(Buffer.from(data, 'base64'));
      const width = Math.round(metadata.deviceWidth) || viewport.width;
      const height = Math.round(metadata.deviceHeight) || viewport.height;
      const sent = this.send({ jpeg, width, height, url: page.url() }).catch(() => undefined);
      // The next frame is made after this acknowledgement: slow viewers get fewer frames, not older ones.
      void sent.then(() =>
        setTimeout(() => {
          session.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined);
        }, interval),
      );
    });
    const { width: maxWidth, height: maxHeight } = viewport;
    await session
      .send('Page.startScreencast', { format: 'jpeg', quality, maxWidth, maxHeight })
      .catch(() => undefined);
  }
}
