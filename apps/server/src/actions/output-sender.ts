/** The interval between two pieces, and the size of one; if there is more, viewers get the latest output. */
const everyMs = 250;
const longestPiece = 4_000;

/** Sends a call’s output to viewers while it runs. The program chooses how much it prints, so the rate is limited. */
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
