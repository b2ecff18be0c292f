const bell = 0x07;
const escape = 0x1b;
/** A mark carries a short number; a longer one is not ours. */
const longest = 20;

/**
 * Takes a shell's marks out of its output, also those split over chunks, and says where each stood.
 * Every other byte passes unchanged and in order.
 */
export class MarkFilter {
  readonly #start: Buffer;
  #held = Buffer.alloc(0);

  constructor(
    mark: string,
    private readonly onBytes: (bytes: Buffer) => void,
    private readonly onMark: (nonce: string) => void,
  ) {
    this.#start = Buffer.from(mark, 'latin1');
  }

  push(chunk: Buffer): void {
    let rest = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = Buffer.alloc(0);
    for (;;) {
      const at = rest.indexOf(this.#start);
      if (at < 0) break;
      const end = rest.indexOf(bell, at + this.#start.length);
      if (end < 0 && rest.length - at < this.#start.length + longest) break;
      this.#emit(rest.subarray(0, at));
      if (end < 0 || end - at > this.#start.length + longest) {
        this.#emit(rest.subarray(at, at + this.#start.length));
        rest = rest.subarray(at + this.#start.length);
        continue;
      }
      this.onMark(rest.toString('latin1', at + this.#start.length, end));
      rest = rest.subarray(end + 1);
    }
    const keep = this.#possibleStart(rest);
    this.#emit(rest.subarray(0, keep));
    this.#held = Buffer.from(rest.subarray(keep));
  }

  /** Lets go of what looked like the start of a mark; call it when nothing follows. */
  flush(): void {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    this.#emit(held);
  }

  get holding(): boolean {
    return this.#held.length > 0;
  }

  #emit(bytes: Buffer): void {
    if (bytes.length > 0) this.onBytes(bytes);
  }

  /** Where an unfinished mark may begin; the length when none does. */
  #possibleStart(bytes: Buffer): number {
    const complete = bytes.indexOf(this.#start);
    if (complete >= 0) return complete;
    const from = Math.max(0, bytes.length - this.#start.length);
    for (let at = bytes.indexOf(escape, from); at >= 0; at = bytes.indexOf(escape, at + 1)) {
      const tail = bytes.subarray(at);
      if (tail.equals(this.#start.subarray(0, tail.length))) return at;
    }
    return bytes.length;
  }
}
