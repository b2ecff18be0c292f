export const pageSize = 64 * 1024;

/**
 * A terminal’s latest output, by offset; the server's log has older bytes. `keep` bytes stay readable, and those from
 * `pinned` on in any case. Bytes are copied to pages once and read from there, because thousands of a pty's small
 * chunks would cost more than the copy. What is read is not copied, so it changes once it is no longer kept: its page is
 * used again.
 */
export class Scrollback {
  readonly #pages: Buffer[] = [];
  readonly #keep: number;
  readonly #pinned: () => number;
  #start: number;
  #end: number;
  /** The last page that was dropped: allocating each page anew cost a tenth of a flood’s processor time, as garbage. */
  #spare: Buffer | undefined;

  constructor(start: number, keep: number, pinned: () => number) {
    this.#start = this.#end = start;
    this.#keep = keep;
    this.#pinned = pinned;
  }

  /** The offset of the next byte. */
  get end(): number {
    return this.#end;
  }

  /** The offset of the oldest byte that is still here. */
  get start(): number {
    return this.#start;
  }

  get lastByte(): number | undefined {
    return this.piece(this.#end - 1)[0];
  }

  append(bytes: Buffer): void {
    for (let done = 0; done < bytes.length;) {
      const at = (this.#end - this.#start) % pageSize;
      if (at === 0) this.#pages.push(this.#takeSpare());
      const copied = bytes.copy(this.#pages.at(-1) ?? bytes, at, done);
      done += copied;
      this.#end += copied;
    }
    this.#trim();
  }

  /** The bytes of a range, as far as they are still here. */
  slice(from: number, to: number): Buffer {
    const parts = [...this.pieces(from, to)];
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  /** The bytes of a range, as far as they are still here, in pieces that are not copied. */
  *pieces(from: number, to = this.#end): Generator<Buffer> {
    for (let at = Math.max(from, this.#start); at < Math.min(to, this.#end);) {
      const piece = this.piece(at).subarray(0, to - at);
      yield piece;
      at += piece.length;
    }
  }

  /** Bytes from an offset to the end of its page at most, without copying; empty if there are none. */
  piece(from: number): Buffer {
    const index = Math.floor((from - this.#start) / pageSize);
    const begin = this.#start + index * pageSize;
    return this.#pages[index]?.subarray(from - begin, this.#end - begin) ?? Buffer.alloc(0);
  }

  #takeSpare(): Buffer {
    const page = this.#spare ?? Buffer.allocUnsafe(pageSize);
    this.#spare = undefined;
    return page;
  }

  #trim(): void {
    const limit = Math.min(this.#end - this.#keep, this.#pinned());
    while (this.#start + pageSize <= limit) {
      this.#spare = this.#pages.shift();
      this.#start += pageSize;
    }
  }
}
