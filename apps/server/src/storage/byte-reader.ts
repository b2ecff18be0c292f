/** Reads a number of bytes, or up to the end of a line, from a source that arrives in pieces. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Bytes that have arrived and are not consumed yet. */
  get size(): number {
    return this.#buffer.length;
  }

  /** Waits for this many bytes. False if the source ends before. */
  async has(bytes: number): Promise<boolean> {
    if (this.#buffer.length >= bytes) return true;
    const chunks = [this.#buffer];
    let size = this.#buffer.length;
    while (size < bytes) {
      const { value, done } = await this.#source.next();
      if (done) break;
      chunks.push(value);
      size += value.length;
    }
    this.#buffer = Buffer.concat(chunks);
    return size >= bytes;
  }

  /** The next bytes, as far as they have arrived, without consuming them. */
  peek(bytes: number): Buffer {
    return this.#buffer.subarray(0, bytes);
  }

  take(bytes: number): Buffer {
    const taken = this.peek(bytes);
    this.#buffer = this.#buffer.subarray(bytes);
    return taken;
  }

  /** A line without its end; undefined if the source ends before. Throws for a line of more than `max` bytes. */
  async line(max: number): Promise<string | undefined> {
    for (;;) {
      const end = this.#buffer.indexOf(10);
      if ((end < 0 ? this.size : end) > max) throw new RangeError(`A line has over ${max} bytes`);
      if (end >= 0) return this.take(end + 1).toString('utf8', 0, end);
      if (!(await this.has(this.size + 1))) return undefined;
    }
  }
}
