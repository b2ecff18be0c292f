/**
 * Whether a position in Markdown is within code: in a fenced block, or between a run of backticks and the next equal
 * one in its line, or the line’s end. Accepts text in pieces of any size, each once, so that a stream takes linear
 * time.
 */
export class CodeState {
  /** Backticks that opened the current block and the current span. */
  #fence = 0;
  #span = 0;
  /** Length of the current run of backticks. */
  #run = 0;
  /** Whether only spaces precede the run in its line. */
  #first = true;

  get isCode(): boolean {
    const after = this.#clone();
    after.#endRun();
    return after.#fence > 0 || after.#span > 0;
  }

  /** The state after more text; this object stays unchanged. */
  after(text: string): CodeState {
    const next = this.#clone();
    for (const character of text) next.#take(character);
    return next;
  }

  #take(character: string): void {
    if (character === '`') {
      this.#run += 1;
      return;
    }
    this.#endRun();
    if (character === '\n') {
      this.#span = 0;
      this.#first = true;
    } else if (character !== ' ') this.#first = false;
  }

  #endRun(): void {
    const run = this.#run;
    this.#run = 0;
    if (run === 0) return;
    const isFence = this.#first && run >= 3;
    this.#first = false;
    if (this.#fence > 0) {
      if (isFence && run >= this.#fence) this.#fence = 0;
    } else if (isFence) this.#fence = run;
    else if (this.#span === 0) this.#span = run;
    else if (this.#span === run) this.#span = 0;
  }

  #clone(): CodeState {
    const clone = new CodeState();
    clone.#fence = this.#fence;
    clone.#span = this.#span;
    clone.#run = this.#run;
    clone.#first = this.#first;
    return clone;
  }
}
