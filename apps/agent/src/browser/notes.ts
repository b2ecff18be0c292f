import type { ConsoleMessage, HTTPRequest, HTTPResponse, Page } from './chromium.js';

export interface ConsoleLine {
  level: string;
  text: string;
  url: string;
}

const mostLines = 500;
const mostNotes = 12;
/** A page that nobody asks about may go on for hours. */
const mostKept = 200;
const longest = 500;

/** What happens in a page besides what was asked for: told once with the next answer, and kept as a console. */
export class Notes {
  readonly #notes: string[] = [];
  #forgotten = 0;
  readonly #console: ConsoleLine[] = [];

  add(note: string): void {
    if (this.#notes.includes(note)) return;
    this.#notes.push(note);
    if (this.#notes.length <= mostKept) return;
    this.#notes.shift();
    this.#forgotten += 1;
  }

  /** The notes since the last answer; the oldest give way. */
  take(): string[] {
    const notes = this.#notes.splice(0);
    if (notes.length <= mostNotes) return notes;
    const rest = notes.length - mostNotes + this.#forgotten;
    this.#forgotten = 0;
    return [`${rest} more notes; browser.console has the rest.`, ...notes.slice(-mostNotes)];
  }

  console(limit: number): ConsoleLine[] {
    return this.#console.slice(-limit);
  }

  /** Listens to the console, the errors and the failed requests of a page. */
  listen(page: Page): void {
    page.on('console', (message: ConsoleMessage) => {
      const level = message.type();
      const url = message.location().url ?? page.url();
      this.#line({ level, text: message.text(), url });
      // A failed request is told by itself, with its status.
      if (level === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.add(`Console error: ${cut(message.text())}`);
      }
    });
    page.on('pageerror', (error) => {
      const text = error instanceof Error ? error.message : String(error);
      this.#line({ level: 'error', text, url: page.url() });
      this.add(`Error in the page: ${cut(text)}`);
    });
    page.on('requestfailed', (request: HTTPRequest) => {
      const why = request.failure()?.errorText ?? 'failed';
      if (why === 'net::ERR_ABORTED') return;
      this.#line({ level: 'network', text: `${request.method()} ${why}`, url: request.url() });
    });
    page.on('response', (response: HTTPResponse) => {
      if (response.status() < 400) return;
      const text = `${response.request().method()} ${response.status()} ${response.statusText()}`;
      this.#line({ level: 'network', text: text.trim(), url: response.url() });
    });
  }

  #line(line: ConsoleLine): void {
    this.#console.push({ ...line, text: line.text.slice(0, 4_000) });
    if (this.#console.length > mostLines) this.#console.shift();
  }
}

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);
