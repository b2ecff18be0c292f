import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations, type NewEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import type { ScreencastFrame } from '../browser-options.js';
import { createBrowser, type Browser } from '../browser.js';
import { servePage } from './pages.js';

type Name = keyof Browser['handlers'];
export type PageAnswer = {
  url: string;
  title: string;
  text: string;
  truncated: boolean;
  notes: string[];
};

/** A real browser, which works in a temporary folder, and the site of `servePage` on this machine. */
export class BrowserBench {
  readonly folder = mkdtempSync(join(tmpdir(), 'belay-browser-'));
  readonly server = createServer(servePage);
  readonly events: NewEvent[] = [];
  readonly blobs = new Map<string, Uint8Array>();
  readonly frames: ScreencastFrame[] = [];
  readonly browser: Browser;
  #calls = 0;

  /** `path` is where Chromium and what it needs are found. */
  constructor(path: string) {
    this.browser = createBrowser({
      workspace: this.folder,
      state: this.folder,
      writer: { append: (event) => void this.events.push(event) },
      putBlob: async (_, bytes) => {
        const blob = createHash('sha256').update(bytes).digest('hex');
        this.blobs.set(blob, bytes);
        return blob;
      },
      sendFrame: async (frame) => void this.frames.push(frame),
      sidecar: () => Promise.reject(new Error('There is a Chromium here.')),
      // Nothing answers there: whatever goes out past loopback fails.
      proxy: 'http://127.0.0.1:9',
      env: { PATH: path, HOME: this.folder },
      answerMs: 12_000,
      loadMs: 4_000,
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The address of the site. */
  get site(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  /** Calls an operation as the agent does. */
  readonly run = async <T = PageAnswer>(
    name: Name,
    input: object = {},
    signal = AbortSignal.timeout(90_000),
  ): Promise<T> => {
    const parsed = operations[name].input.parse(input);
    const call = { id: `c${++this.#calls}`, source: 'agent', signal };
    return (await this.browser.handlers[name](parsed as never, call as never)) as T;
  };

  readonly open = (path: string) => this.run('browser.open', { url: this.site + path });

  /** The reference of the element that is shown so. */
  readonly ref = (page: PageAnswer, label: string): string => {
    const found = new RegExp(`\\[(e\\d+)\\] ${label}`).exec(page.text)?.[1];
    if (!found) throw new Error(`No ${label} in: ${page.text}`);
    return found;
  };

  /**
   * The page once it is so, with all notes until then: on a busy machine, what a call causes may come after its result.
   */
  readonly once = async (
    what: string,
    page: PageAnswer,
    isSo: (page: PageAnswer) => boolean,
  ): Promise<PageAnswer> => {
    let now = page;
    await until(what, async () => {
      if (isSo(now)) return true;
      const next = await this.run('browser.read');
      now = { ...next, notes: [...now.notes, ...next.notes] };
      return false;
    });
    return now;
  };

  /** Opens the page’s popup. */
  readonly openPopup = async (page: PageAnswer): Promise<PageAnswer> => {
    const clicked = await this.run('browser.click', { element: this.ref(page, 'New window') });
    return this.once('the popup', clicked, ({ title }) => title === 'About');
  };

  /** What a script gives in the page, as text. */
  readonly evaluate = async (script: string): Promise<string> =>
    (await this.run<PageAnswer & { value: string }>('browser.evaluate', { script })).value;

  /** Ends the browser, or its processes of one kind, such as `renderer`. */
  readonly kill = (kind?: string): void => {
    const processes = execFileSync('pgrep', ['-af', '--', `user-data-dir=${this.folder}`], {
      encoding: 'utf8',
    });
    for (const line of processes.split('\n').filter(Boolean)) {
      const isMeant = kind ? line.includes(`--type=${kind}`) : !line.includes('--type=');
      if (isMeant) process.kill(Number.parseInt(line, 10), 'SIGKILL');
    }
  };
}
