import type { Changes } from './changes.js';
import { Outlet, type OpenStream } from './outlet.js';
import { Tape } from './tape.js';

/** Bytes of a terminal that stay readable in the agent. */
const keep = 16 * 1024 * 1024;
/** Bytes that may wait for the server before the programs have to wait too. */
const mostWaiting = 4 * 1024 * 1024;
/** How long the rest of a line is waited for, in ms: it comes as soon as there is room, but a flood may tear on and on. */
const tearPatience = 100;

export interface OutputOptions {
  terminal: string;
  start: number;
  openStream: OpenStream;
  changes: Changes;
  /** Reading from the programs has to stop, or may go on. */
  onHold(held: boolean): void;
}

/** What a terminal shows, from programs and from us: kept for reading and sent to the server. */
export class Output {
  readonly tape: Tape;
  readonly #outlet: Outlet;
  /** When a program printed last. */
  lastTime = 0;
  /** The last reading stopped amid a line of which more is about to come: nothing may be written in between. */
  #torn = false;
  #mending: NodeJS.Timeout | undefined;
  /** Where the agent's latest prompt stands. */
  #promptAt = { from: 0, to: 0 };

  constructor(private readonly options: OutputOptions) {
    const { terminal, start, openStream: open } = options;
    this.tape = new Tape(start, keep, () => this.#outlet.acknowledged);
    this.#outlet = new Outlet(terminal, () => this.tape, {
      start,
      open,
      onDrain: () => options.onHold(this.#outlet.waiting > mostWaiting),
    });
  }

  get torn(): boolean {
    return this.#torn;
  }

  /** The end of what is worth reading: without the prompt after it. */
  get end(): number {
    return this.#promptAt.to === this.tape.end ? this.#promptAt.from : this.tape.end;
  }

  /** Where to read on after `offset`: behind the prompt, if only that stands between. */
  past(offset: number): number {
    return this.#promptAt.from === offset ? this.#promptAt.to : offset;
  }

  print(text: string): void {
    this.#append(Buffer.from(text));
  }

  /** Shows a prompt on a line of its own, or in place of the line before. */
  prompt(text: string, options: { replace: boolean }): void {
    const fresh = this.tape.lastByte === undefined || this.tape.lastByte === 0x0a;
    const from = this.tape.end;
    this.print(`${options.replace ? '\x1b[A\r\x1b[K' : fresh ? '' : '\r\n'}${text}`);
    this.#promptAt = { from, to: this.tape.end };
  }

  /** Takes what programs print. */
  receive(bytes: Buffer, torn: boolean): void {
    this.#append(bytes);
    this.lastTime = Date.now();
    if (!torn) clearTimeout(this.#mending);
    else if (!this.#torn) this.#mending = setTimeout(() => this.#mend(), tearPatience);
    this.#torn = torn;
    this.options.changes.notify();
  }

  /** Resolves when something of ours can be shown without cutting a line in two. */
  async whole(): Promise<void> {
    // What was read together with the end of a command is heard first.
    await Promise.resolve();
    await this.options.changes.until(() => !this.#torn, tearPatience);
  }

  /** What a command printed leaves no later than the news of its end. */
  flush(): void {
    this.#outlet.flush();
  }

  close(): void {
    clearTimeout(this.#mending);
    this.#outlet.close();
  }

  #mend(): void {
    this.#torn = false;
    this.options.changes.notify();
  }

  #append(bytes: Buffer): void {
    this.tape.append(bytes);
    this.#outlet.notify();
    if (this.#outlet.waiting > mostWaiting) this.options.onHold(true);
  }
}
