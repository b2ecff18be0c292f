/** Between two pieces, and what one of them may have: viewers see the latest of more. */
const everyMs = 250;
const longestPiece = 4_000;

/** Output on its way to viewers while a call runs, which is the program’s to choose and so bounded in rate. */
export class OutputSender {
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly send: (text: string) => void) {}

  add(text: string): void {
    this.#waiting = (this.#waiting + text.slice(-longestPiece)).slice(-longestPiece);
    this.#timer ??= setTimeout(() => this.#flush(), everyMs).unref();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#waiting = '';
  }

  #flush(): void {
    this.#timer = undefined;
    this.send(this.#waiting.toWellFormed());
    this.#waiting = '';
  }
}
