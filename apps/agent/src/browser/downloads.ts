import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inTime } from '@belay/rpc';
import type { Browser, CDPSession } from './chromium.js';
import type { PageNotes } from './page-notes.js';

/** How long a result waits for a download in progress. */
const downloadTimeoutMs = 10_000;

/** Saves downloads in a folder of the workspace, and notes each one. */
export class Downloads {
  readonly #workspace: string;
  readonly #notes: PageNotes;
  readonly #running = new Map<string, { name: string; done: PromiseWithResolvers<void> }>();
  #session: CDPSession | undefined;
  /** How many have begun so far. */
  begun = 0;

  constructor(workspace: string, notes: PageNotes) {
    this.#workspace = workspace;
    this.#notes = notes;
  }

  async listen(browser: Browser): Promise<void> {
    const downloadPath = join(this.#workspace, 'downloads');
    this.#session = await browser.target().createCDPSession();
    await this.#session.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath,
      eventsEnabled: true,
    });
    this.#session.on('Browser.downloadWillBegin', ({ guid, suggestedFilename }) => {
      void mkdir(downloadPath, { recursive: true });
      this.begun += 1;
      this.#running.set(guid, { name: suggestedFilename, done: Promise.withResolvers() });
    });
    this.#session.on('Browser.downloadProgress', ({ guid, state, receivedBytes, filePath }) => {
      const download = this.#running.get(guid);
      if (!download || state === 'inProgress') return;
      this.#running.delete(guid);
      const name = filePath?.split('/').at(-1) ?? download.name;
      this.#notes.add(
        state === 'completed'
          ? `Downloaded downloads/${name} (${receivedBytes} bytes).`
          : `The download of ${download.name} was interrupted.`,
      );
      download.done.resolve();
    });
  }

  /** Waits for running downloads; one that takes longer is noted and continues. */
  async settle(): Promise<void> {
    if (this.#running.size === 0) return;
    const all = [...this.#running.values()];
    const done = Promise.all(all.map((download) => download.done.promise));
    await inTime(done, downloadTimeoutMs, () => undefined);
    for (const { name } of this.#running.values()) {
      this.#notes.add(`downloads/${name} is still being downloaded.`);
    }
  }

  /** The browser has ended, and its downloads with it. */
  forget(): void {
    for (const { name, done } of this.#running.values()) {
      this.#notes.add(`The download of ${name} was interrupted.`);
      done.resolve();
    }
    this.#running.clear();
  }
}
