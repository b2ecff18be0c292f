/** How far to look for the start of the next line, in bytes. Longer lines are cut. */
const longestLine = 4_096;

/** The newest bytes of a terminal. Bytes before `start` can be read from the server. */
export class TerminalBuffer {
  /** The most bytes kept here; the server keeps all. */
  static readonly limit = 8 * 1_048_576;

  start = 0;
  end = 0;
  readonly #pieces: Uint8Array[] = [];
  readonly #listeners = new Set<(bytes: Uint8Array, offset: number) => void | Promise<void>>();

  /**
   * Adds bytes in order. A gap discards everything before it. Resolves when all listeners are done.
   */
  async add(offset: number, bytes: Uint8Array): Promise<void> {
    if (offset > this.end) {
      this.#pieces.length = 0;
      this.start = offset;
    }
    this.#pieces.push(bytes);
    this.end = offset + bytes.length;
    while (this.end - this.start > TerminalBuffer.limit && this.#pieces.length > 1)
      this.start += this.#pieces.shift()?.length ?? 0;
    await Promise.all([...this.#listeners].map(async (listener) => listener(bytes, offset)));
  }

  /** The bytes from one offset to another, as far as available. */
  slice(from: number, to = this.end): Uint8Array {
    const begin = Math.max(from, this.start);
    const out = new Uint8Array(Math.max(0, Math.min(to, this.end) - begin));
    let at = this.start;
    for (const piece of this.#pieces) {
      const first = Math.max(0, begin - at);
      const last = Math.min(piece.length, begin + out.length - at);
      if (last > first) out.set(piece.subarray(first, last), at + first - begin);
      at += piece.length;
    }
    return out;
  }

  /** The offset of the first complete line. */
  get firstLine(): number {
    return this.start > 0 ? this.#afterFeed(this.start) : 0;
  }

  /** The offset of the first line that begins after `offset`; at the start, `firstLine`. */
  lineFrom(offset: number): number {
    return offset <= this.start ? this.firstLine : this.#afterFeed(offset);
  }

  #afterFeed(offset: number): number {
    return offset + this.slice(offset, offset + longestLine).indexOf(10) + 1;
  }

  listen(listener: (bytes: Uint8Array, offset: number) => void | Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
