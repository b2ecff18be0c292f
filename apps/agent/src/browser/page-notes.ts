import type { ConsoleMessage, HTTPRequest, HTTPResponse, Page } from './chromium.js';

export interface ConsoleLine {
  level: string;
  text: string;
  url: string;
}

const mostLines = 500;
const mostNotes = 12;
/** Of what a page writes without an error, the last ones. */
const mostMessages = 6;
/** The notes are limited, because an unread page may run for hours. */
const mostKept = 200;
const longest = 500;

/** Events of a page besides the requested ones: reported once with the next result, and kept as a console. */
export class PageNotes {
  readonly #notes: string[] = [];
  #forgotten = 0;
  #messages: string[] = [];
  #moreMessages = 0;
  readonly #console: ConsoleLine[] = [];

  add(note: string): void {
    if (this.#notes.includes(note)) return;
    this.#notes.push(note);
    if (this.#notes.length <= mostKept) return;
    this.#notes.shift();
    this.#forgotten += 1;
  }

  /** The notes since the last result, the oldest dropped first. */
  take(): string[] {
    const notes = this.#notes.splice(0);
    if (notes.length <= mostNotes) return notes;
    const rest = notes.length - mostNotes + this.#forgotten;
    this.#forgotten = 0;
    return [`${rest} more notes; browser.console has the rest.`, ...notes.slice(-mostNotes)];
  }

  /** Console messages without the errors, since the last result; the oldest are dropped first. */
  takeMessages(): string[] {
    const messages = this.#messages;
    const more = this.#moreMessages;
    this.#messages = [];
    this.#moreMessages = 0;
    return more === 0
      ? messages
      : [`${more} more before these; browser.console has them.`, ...messages];
  }

  #message(text: string): void {
    this.#messages.push(text);
    if (this.#messages.length <= mostMessages) return;
    this.#messages.shift();
    this.#moreMessages += 1;
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
      // A failed request is noted by itself, with its status.
      if (level !== 'error') this.#message(`${level}: ${cut(message.text())}`);
      else if (!message.text().startsWith('Failed to load resource')) {
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
      this.#failed(`${request.method()} ${why}`, request.url());
    });
    page.on('response', (response: HTTPResponse) => {
      if (response.status() < 400) return;
      const text = `${response.request().method()} ${response.status()} ${response.statusText()}`;
      this.#failed(text.trim(), response.url());
    });
  }

  #failed(text: string, url: string): void {
    this.#line({ level: 'network', text, url });
    // Chromium asks every host for its icon by itself.
    if (!url.endsWith('/favicon.ico')) this.add(`Request failed: ${cut(`${text} ${url}`)}`);
  }

  #line(line: ConsoleLine): void {
    this.#console.push({ ...line, text: line.text.slice(0, 4_000) });
    if (this.#console.length > mostLines) this.#console.shift();
  }
}

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);
