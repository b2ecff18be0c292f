/** Writes at shorter intervals are drawn together; the first one after a pause is drawn at once. */
const pauseMs = 50;
/** From this many bytes on, writes are drawn at once, since their sender waits for them. */
const most = 16_384;

interface Write {
  bytes: Uint8Array;
  drawn(): void;
}

/** Batches short writes to a terminal, in order, since each redraws all rows that it changed. */
export class ShortWrites {
  #writes: Write[] = [];
  #size = 0;
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly draw: (bytes: Uint8Array, drawn: () => void) => void) {}

  /** Resolves when the bytes are drawn, or on `dispose`. */
  add(bytes: Uint8Array): Promise<void> {
    const drawn = new Promise<void>((resolve) => {
      this.#writes.push({ bytes, drawn: resolve });
    });
    this.#size += bytes.length;
    const wait = this.#last + pauseMs - performance.now();
    if (this.#size >= most || wait <= 0) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), wait);
    return drawn;
  }

  /** Draws the pending writes now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const writes = this.#writes;
    this.#writes = [];
    this.#size = 0;
    this.#last = performance.now();
    for (const { bytes, drawn } of writes) this.draw(bytes, drawn);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const { drawn } of this.#writes) drawn();
  }
}
