/**
 * Whether a place in Markdown is within code: a fenced block, or from a backtick to the next such one of its line or the
 * line’s end. Takes text in pieces of any size, once, so that a stream takes linear time.
 */
export class CodeState {
  /** Backticks that opened the block and the span in which the text is. */
  #fence = 0;
  #span = 0;
  /** Backticks that came last. */
  #run = 0;
  /** Whether only spaces came before them in the line. */
  #first = true;

  get isCode(): boolean {
    const after = this.#clone();
    after.#endRun();
    return after.#fence > 0 || after.#span > 0;
  }

  /** The state after some more text; this one stays as it is. */
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
