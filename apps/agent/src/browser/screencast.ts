import { ignoreError } from '@belay/protocol';
import type { ScreencastFrame } from './browser-options.js';
import type { CDPSession, Page } from './chromium.js';
import { viewport } from './chromium.js';

const quality = 60;
/** The minimum time between frames, in milliseconds. */
const intervalMs = 50;

interface Size {
  width: number;
  height: number;
}

/** Live pictures of one page at a time, while it is watched. The browser makes none while nothing changes. */
export class Screencast {
  readonly #send: (frame: ScreencastFrame) => Promise<void>;
  #wanted = false;
  #page: Page | undefined;
  #session: CDPSession | undefined;
  #size: Size = viewport;

  constructor(send: (frame: ScreencastFrame) => Promise<void>) {
    this.#send = send;
  }

  async want(wanted: boolean): Promise<void> {
    if (this.#wanted === wanted) return;
    this.#wanted = wanted;
    await this.#renew();
  }

  /** Sets the page that is shown. */
  async follow(page: Page | undefined): Promise<void> {
    if (this.#page === page) return;
    this.#page = page;
    await this.#renew();
  }

  /** The view’s size changed: later pictures have the new size. */
  async resized({ width, height }: Size): Promise<void> {
    this.#size = { width, height };
    await this.#renew();
  }

  async #renew(): Promise<void> {
    const before = this.#session;
    this.#session = undefined;
    await before?.detach().catch(ignoreError('the page took its session with it'));
    const page = this.#page;
    if (!this.#wanted || !page || page.isClosed()) return;
    const session = await page.createCDPSession().catch(ignoreError('the page is gone'));
    if (!session || this.#session || page !== this.#page) {
      await session?.detach().catch(ignoreError('the page took its session with it'));
      return;
    }
    this.#session = session;
    session.on('Page.screencastFrame', ({ data, sessionId, metadata }) => {
      const jpeg = new Uint8Array(Buffer.from(data, 'base64'));
      const width = Math.round(metadata.deviceWidth) || this.#size.width;
      const height = Math.round(metadata.deviceHeight) || this.#size.height;
      const sent = this.#send({ jpeg, width, height, url: page.url() }).catch(
        ignoreError('a lost frame is followed by a newer one'),
      );
      // The acknowledgement requests the next frame: slow viewers get fewer frames, not older ones.
      void sent.then(() =>
        setTimeout(() => {
          session
            .send('Page.screencastFrameAck', { sessionId })
            .catch(ignoreError('the session has ended'));
        }, intervalMs),
      );
    });
    const { width: maxWidth, height: maxHeight } = this.#size;
    await session
      .send('Page.startScreencast', { format: 'jpeg', quality, maxWidth, maxHeight })
      .catch(ignoreError('the page is gone'));
  }
}
