const escape = 0x1b;
/** Marks have short numbers; a longer one is not ours. */
const longest = 20;
const nothing = Buffer.alloc(0);

/**
 * Removes a shell's marks from its output, even if chunks split them, and reports their positions. Every other byte
 * passes unchanged and in order.
 */
export class MarkFilter {
  readonly #start: Buffer;
  readonly #onBytes: (bytes: Buffer) => void;
  readonly #onMark: (nonce: string) => void;
  #held = nothing;

  constructor(mark: string, onBytes: (bytes: Buffer) => void, onMark: (nonce: string) => void) {
    this.#onBytes = onBytes;
    this.#onMark = onMark;
    this.#start = Buffer.from(mark, 'latin1');
  }

  push(chunk: Buffer): void {
    let rest = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = nothing;
    let at = rest.indexOf(this.#start);
    for (; at >= 0; at = rest.indexOf(this.#start)) {
      const nonce = at + this.#start.length;
      // oxlint-disable-next-line no-control-regex
      const found = /^(\d*)(\x07?)/.exec(rest.toString('latin1', nonce, nonce + longest));
      const [, number = '', bell = ''] = found ?? [];
      // The mark may continue, so the bytes are held.
      if (!bell && number.length < longest && nonce + number.length === rest.length) break;
      if (bell) {
        this.#emit(rest.subarray(0, at));
        this.#onMark(number);
        rest = rest.subarray(nonce + number.length + 1);
      } else {
        this.#emit(rest.subarray(0, nonce));
        rest = rest.subarray(nonce);
      }
    }
    const keep = at >= 0 ? at : this.#possibleStart(rest);
    if (keep === rest.length) return this.#emit(rest);
    this.#emit(rest.subarray(0, keep));
    this.#held = Buffer.from(rest.subarray(keep));
  }

  /** Passes on held bytes that looked like the start of a mark; call it when nothing follows. */
  flush(): void {
    const held = this.#held;
    this.#held = nothing;
    this.#emit(held);
  }

  get holding(): boolean {
    return this.#held.length > 0;
  }

  #emit(bytes: Buffer): void {
    if (bytes.length > 0) this.#onBytes(bytes);
  }

  /** The position of a possible mark that the chunk cuts off; the length if there is none. */
  #possibleStart(bytes: Buffer): number {
    const from = Math.max(0, bytes.length - this.#start.length);
    for (let at = bytes.indexOf(escape, from); at >= 0; at = bytes.indexOf(escape, at + 1)) {
      const tail = bytes.subarray(at);
      if (tail.equals(this.#start.subarray(0, tail.length))) return at;
    }
    return bytes.length;
  }
}
