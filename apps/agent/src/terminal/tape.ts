/**
 * What a terminal has printed, by offset: the latest bytes only, older ones are in the server's log.
 * `keep` bytes stay readable; those from `pinned` on stay whatever their number.
 */
export class Tape {
  readonly #chunks: { offset: number; bytes: Buffer }[] = [];
  #end: number;

  constructor(
    start: number,
    private readonly keep: number,
    private readonly pinned: () => number,
  ) {
    this.#end = start;
  }

  /** The offset of the next byte. */
  get end(): number {
    return this.#end;
  }

  /** The offset of the oldest byte that is still here. */
  get start(): number {
    return this.#chunks[0]?.offset ?? this.#end;
  }

  get lastByte(): number | undefined {
    return this.#chunks.at(-1)?.bytes.at(-1);
  }

  append(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#chunks.push({ offset: this.#end, bytes });
    this.#end += bytes.length;
    this.#trim();
  }

  /** The bytes of a range, as far as they are still here. */
  slice(from: number, to: number): Buffer {
    const parts: Buffer[] = [];
    for (let index = this.#indexOf(from); index < this.#chunks.length; index += 1) {
      const chunk = this.#chunks[index];
      if (!chunk || chunk.offset >= to) break;
      parts.push(chunk.bytes.subarray(Math.max(0, from - chunk.offset), to - chunk.offset));
    }
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  #trim(): void {
    const limit = Math.min(this.#end - this.keep, this.pinned());
    let gone = 0;
    for (const chunk of this.#chunks) {
      if (chunk.offset + chunk.bytes.length > limit) break;
      gone += 1;
    }
    // In batches: removing from the front of a long array moves all of it.
    if (gone > 256 || gone * 2 > this.#chunks.length) this.#chunks.splice(0, gone);
  }

  #indexOf(offset: number): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const chunk = this.#chunks[middle];
      if (chunk && chunk.offset + chunk.bytes.length <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
