import type { Output } from './output.js';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const erase = '\r\u001b[K';

/** The last line of a terminal, drawn anew while something goes on; what is written `over` it stays. */
export class StatusLine {
  #text = '';
  #since = Date.now();
  #frame = 0;
  #held = false;
  readonly #timer = setInterval(() => this.#draw(), 100).unref();

  constructor(private readonly stream: NodeJS.WriteStream) {}

  /** What goes on, and since when; nothing for an empty text. */
  show(text: string, since: number): void {
    this.#text = text;
    this.#since = since;
  }

  /** Makes room for a question. */
  hold(held: boolean): void {
    this.#held = held;
    this.#draw();
  }

  over(output: Output): Output {
    return {
      get width() {
        return output.width;
      },
      style: output.style,
      line: (text) => {
        this.stream.write(erase);
        output.line(text);
        this.#draw();
      },
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
    const line = `${frames[this.#frame]} ${seconds > 0 ? `${seconds} s · ` : ''}${this.#text}`;
    const room = Math.max(20, (this.stream.columns ?? 80) - 1);
    this.stream.write(`${erase}\u001b[2m${line.slice(0, room)}\u001b[22m`);
  }
}
