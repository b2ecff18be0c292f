import { expireAfterReading } from '@belay/rpc';
import type { Changes } from './changes.js';
import { Outlet, type OpenStream } from './outlet.js';
import { typedText } from './prompt.js';
import { Scrollback } from './scrollback.js';
import { scrollbackText, type ScrollbackText } from './scrollback-text.js';
import { ForegroundSpans, type Span } from './foreground-spans.js';
import { OutputFile } from './output-file.js';

/** The output of a terminal that stays readable in the agent, in bytes. */
const keep = 16 * 1024 * 1024;
/** The output of a command in bytes that a result shows as a whole. */
export const mostShown = 16_000;
/** Older prompts are shown like output. */
const mostPrompts = 200;
/** Bytes that may wait for the server before programs must wait, too. */
const mostWaiting = 4 * 1024 * 1024;
/**
 * How long the rest of a line is awaited: it arrives when there is space, but continuous output may cut every line.
 */
const partialLineTimeoutMs = 100;
/** Output counts as complete after this long without any; other programs’ continuous output is not awaited forever. */
const quietMs = 20;
const quietTries = 10;

export interface OutputOptions {
  terminal: string;
  start: number;
  openStream: OpenStream;
  changes: Changes;
  /** Reading from programs must stop, or may continue. */
  onHold(held: boolean): void;
}

/** A terminal’s output from programs and from the agent: kept for reading, and sent to the server. */
export class TerminalOutput {
  readonly scrollback: Scrollback;
  readonly foreground = new ForegroundSpans();
  readonly #options: OutputOptions;
  readonly #outlet: Outlet;
  /** The time of the last program output. */
  lastTime = 0;
  /** The last read ended within a line that is about to continue, so nothing may be printed now. */
  #partialLine = false;
  #partialLineTimer: NodeJS.Timeout | undefined;
  /** The positions of the agent's latest prompts, which no program printed. */
  readonly #prompts: Span[] = [];
  /** The output since `from`, once a result did not show all of it; null if there is no space for it. */
  #file: { from: number; file: OutputFile | null } | undefined;
  #from: number;

  constructor(options: OutputOptions) {
    this.#options = options;
    const { terminal, start, openStream: open } = options;
    this.#from = start;
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
    const prompt = this.#prompts.at(-1);
    return prompt?.to === this.scrollback.end ? prompt.from : this.scrollback.end;
  }

  /** A range as text for a model, without prompts between the lines of programs. */
  text(range: { from: number; to: number; limit: number; rows: number }): ScrollbackText {
    return scrollbackText(this.scrollback, { ...range, skipped: this.#prompts });
  }

  /**
   * The file with the output of the latest command, if that includes all from an offset on. Output goes to a file only
   * from the first call on: the program that prints it waits for this, and few results need it.
   */
  fileFrom(from: number): string | null {
    if (from < this.#from) return null;
    if (this.#file?.from !== this.#from) this.#startFile();
    return this.#file?.file?.pathToRead() ?? null;
  }

  /** Shows a command; returns the offset of its output. */
  begin(text: string, { background }: { background: boolean }): number {
    this.foreground.begin(this.end);
    this.print(typedText(text));
    const from = this.scrollback.end;
    if (background) this.foreground.end(from);
    this.#from = from;
    return from;
  }

  /** The shown command starts only now; returns the offset of its output. */
  restart(): number {
    this.#from = this.scrollback.end;
    return this.#from;
  }

  /** The start of the next read after `offset`: after the prompt, if nothing else is in between. */
  past(offset: number): number {
    const prompt = this.#prompts.at(-1);
    return prompt?.from === offset ? prompt.to : offset;
  }

  /** Returns the offset after the text. */
  print(text: string): number {
    this.#append(Buffer.from(text));
    return this.scrollback.end;
  }

  /** Shows a prompt on a new line, or in place of the previous one. */
  prompt(text: string, options: { replace: boolean }): void {
    const fresh = this.scrollback.lastByte === undefined || this.scrollback.lastByte === 0x0a;
    const from = this.scrollback.end;
    this.print(`${options.replace ? '\x1b[A\r\x1b[K' : fresh ? '' : '\r\n'}${text}`);
    this.#prompts.push({ from, to: this.scrollback.end });
    if (this.#prompts.length > mostPrompts) this.#prompts.shift();
  }

  /** Adds output of programs. */
  receive(bytes: Buffer, partialLine: boolean): void {
    this.#append(bytes);
    if (this.#file?.from === this.#from) this.#file.file?.write(bytes);
    this.lastTime = Date.now();
    if (!partialLine) clearTimeout(this.#partialLineTimer);
    else if (!this.#partialLine)
      this.#partialLineTimer = setTimeout(() => this.#endPartialLine(), partialLineTimeoutMs);
    this.#partialLine = partialLine;
    this.#options.changes.notify();
  }

  /** Resolves when the agent can print without splitting a line. */
  async lineComplete(): Promise<void> {
    // Output that was read together with a command’s end comes first.
    await Promise.resolve();
    await this.#options.changes.until(() => !this.#partialLine, partialLineTimeoutMs);
  }

  /** Resolves when earlier output has probably arrived: there was none for a moment, in which it was read. */
  async quiet(): Promise<void> {
    for (let tries = 0, at = -1; tries < quietTries && at !== this.scrollback.end; tries += 1) {
      at = this.scrollback.end;
      await new Promise<void>((over) => expireAfterReading(quietMs, over));
    }
  }

  /** Sends a command’s output no later than its end. */
  flush(): void {
    this.#outlet.flush();
  }

  close(): void {
    clearTimeout(this.#partialLineTimer);
    this.#outlet.close();
    this.#file?.file?.remove();
    this.#file = undefined;
  }

  #startFile(): void {
    const { scrollback } = this;
    const from = this.#from;
    this.#file?.file?.remove();
    const file = outputFile(this.#options.terminal, { whole: scrollback.start <= from });
    this.#file = { from, file };
    for (const piece of scrollback.pieces(from, this.end)) file?.write(piece);
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

/** Null without space for it: the scrollback has the end. */
function outputFile(terminal: string, options: { whole: boolean }): OutputFile | null {
  try {
    return new OutputFile(terminal, options);
  } catch {
    return null;
  }
}
