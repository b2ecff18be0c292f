import { visibleText } from '@belay/protocol';
import type { LineOutput } from './output.js';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const erase = '\r\u001b[K';

/** The last line of a terminal, redrawn while something is in progress; output written with `over` stays above it. */
export class StatusLine {
  #text = '';
  #since = Date.now();
  #frame = 0;
  #held = false;
  readonly #timer = setInterval(() => this.#draw(), 100).unref();

  constructor(private readonly stream: NodeJS.WriteStream) {}

  /** Shows the current activity and its start; an empty text hides the line. */
  show(text: string, since: number): void {
    this.#text = text;
    this.#since = since;
  }

  /** Hides the line while a question is open. */
  hold(held: boolean): void {
    this.#held = held;
    this.#draw();
  }

  over(output: LineOutput): LineOutput {
    const above = (write: () => void): void => {
      this.stream.write(erase);
      write();
      this.#draw();
    };
    return {
      get width() {
        return output.width;
      },
      style: output.style,
      line: (text) => above(() => output.line(text)),
      json: (value, indent) => above(() => output.json(value, indent)),
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.stream.write(erase);
  }

  #draw(): void {
    if (this.#held || !this.#text) return void this.stream.write(erase);
    this.#frame = (this.#frame + 1) % frames.length;
    const seconds = Math.floor((Date.now() - this.#since) / 1000);
    const line = `${frames[this.#frame]} ${seconds > 0 ? `${seconds} s · ` : ''}${visibleText(this.#text)}`;
    const width = Math.max(20, (this.stream.columns ?? 80) - 1);
    this.stream.write(`${erase}\u001b[2m${line.slice(0, width)}\u001b[22m`);
  }
}
