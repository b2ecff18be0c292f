import { setTimeout as sleep } from 'node:timers/promises';
import type { Changes } from './changes.js';
import { Outlet, type OpenStream } from './outlet.js';
import { typedText } from './prompt.js';
import { Scrollback } from './scrollback.js';
import { ForegroundSpans } from './foreground-spans.js';

/** Bytes of a terminal that stay readable in the agent. */
const keep = 16 * 1024 * 1024;
/** Bytes that may wait for the server before the programs have to wait too. */
const mostWaiting = 4 * 1024 * 1024;
/** How long the rest of a line is awaited: it comes as soon as there is space, but a flood may cut every line. */
const partialLineTimeoutMs = 100;
/** Output is there when none came for so long; a flood of others is not awaited for ever. */
const quietMs = 20;
const quietTries = 10;

export interface OutputOptions {
  terminal: string;
  start: number;
  openStream: OpenStream;
  changes: Changes;
  /** Reading from the programs has to stop, or may continue. */
  onHold(held: boolean): void;
}

/** What a terminal shows, from programs and from the agent: kept for reading and sent to the server. */
export class TerminalOutput {
  readonly scrollback: Scrollback;
  readonly foreground = new ForegroundSpans();
  readonly #options: OutputOptions;
  readonly #outlet: Outlet;
  /** When a program printed last. */
  lastTime = 0;
  /** The last read ended within a line of which more is about to come: nothing may be written in between. */
  #partialLine = false;
  #partialLineTimer: NodeJS.Timeout | undefined;
  /** Where the agent's latest prompt is. */
  #promptAt = { from: 0, to: 0 };

  constructor(options: OutputOptions) {
    this.#options = options;
    const { terminal, start, openStream: open } = options;
    this.scrollback = new Scrollback(start, keep, () => this.#outlet.acknowledged);
    this.#outlet = new Outlet(terminal, () => this.scrollback, {
      start,
      open,
      onDrain: () => options.onHold(this.#outlet.waiting > mostWaiting),
    });
  }

  get hasPartialLine(): boolean {
    return this.#partialLine;
  }

  /** The end of the output, without the prompt after it. */
  get end(): number {
    return this.#promptAt.to === this.scrollback.end ? this.#promptAt.from : this.scrollback.end;
  }

  /** Shows a command that was given; returns where its output begins. */
  begin(text: string, { background }: { background: boolean }): number {
    this.foreground.begin(this.end);
    this.print(typedText(text));
    const from = this.scrollback.end;
    if (background) this.foreground.end(from);
    return from;
  }

  /** Where the next read begins after `offset`: behind the prompt, if only that is in between. */
  past(offset: number): number {
    return this.#promptAt.from === offset ? this.#promptAt.to : offset;
  }

  /** Returns the offset behind it. */
  print(text: string): number {
    this.#append(Buffer.from(text));
    return this.scrollback.end;
  }

  /** Shows a prompt on a line of its own, or in place of the line before. */
  prompt(text: string, options: { replace: boolean }): void {
    const fresh = this.scrollback.lastByte === undefined || this.scrollback.lastByte === 0x0a;
    const from = this.scrollback.end;
    this.print(`${options.replace ? '\x1b[A\r\x1b[K' : fresh ? '' : '\r\n'}${text}`);
    this.#promptAt = { from, to: this.scrollback.end };
  }

  /** Takes what programs print. */
  receive(bytes: Buffer, partialLine: boolean): void {
    this.#append(bytes);
    this.lastTime = Date.now();
    if (!partialLine) clearTimeout(this.#partialLineTimer);
    else if (!this.#partialLine)
      this.#partialLineTimer = setTimeout(() => this.#endPartialLine(), partialLineTimeoutMs);
    this.#partialLine = partialLine;
    this.#options.changes.notify();
  }

  /** Resolves when the agent can print without cutting a line in two. */
  async lineComplete(): Promise<void> {
    // Output that was read together with the end of a command comes first.
    await Promise.resolve();
    await this.#options.changes.until(() => !this.#partialLine, partialLineTimeoutMs);
  }

  /** Resolves when what was printed before is likely to be here: nothing came for a moment. */
  async quiet(): Promise<void> {
    for (let tries = 0, at = -1; tries < quietTries && at !== this.scrollback.end; tries += 1) {
      at = this.scrollback.end;
      await sleep(quietMs);
    }
  }

  /** The output of a command is sent no later than its end. */
  flush(): void {
    this.#outlet.flush();
  }

  close(): void {
    clearTimeout(this.#partialLineTimer);
    this.#outlet.close();
  }

  #endPartialLine(): void {
    this.#partialLine = false;
    this.#options.changes.notify();
  }

  #append(bytes: Buffer): void {
    this.scrollback.append(bytes);
    this.#outlet.notify();
    if (this.#outlet.waiting > mostWaiting) this.#options.onHold(true);
  }
}
