/** Buffers larger than this are released after the line that needed them. */
const usualBytes = 2 ** 20;

/** Splits bytes into lines. An incomplete line is buffered once, in a buffer that doubles up to the limit. */
export class LineBuffer {
  #held = Buffer.alloc(0);
  #length = 0;

  constructor(private readonly maxBytes: number) {}

  /** The complete lines, without their ends. Throws when one is longer than the limit. */
  *push(piece: Buffer): Generator<string> {
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
      this.#hold(piece.subarray(start, end));
      start = end + 1;
      const line = this.#held.toString('utf8', 0, this.#length);
      this.#length = 0;
      if (this.#held.length > usualBytes) this.#held = Buffer.alloc(0);
      yield line.endsWith('\r') ? line.slice(0, -1) : line;
    }
    this.#hold(piece.subarray(start));
  }

  #hold(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > this.maxBytes) throw new Error(`a line is longer than ${this.maxBytes} bytes`);
    if (length > this.#held.length) {
      const larger = Buffer.alloc(Math.max(4_096, 2 * length));
      this.#held.copy(larger, 0, 0, this.#length);
      this.#held = larger;
    }
    part.copy(this.#held, this.#length);
    this.#length = length;
  }
}
