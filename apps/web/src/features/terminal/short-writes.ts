/** Writes that come closer than this are drawn together, in milliseconds; the first after a rest at once. */
const pauseMs = 50;
/** This many bytes are drawn at once, since their sender waits for them. */
const most = 16_384;

interface Write {
  bytes: Uint8Array;
  drawn(): void;
}

/** Gathers short writes to a terminal, since each has all rows drawn that it changed. Bytes keep their order. */
export class ShortWrites {
  #writes: Write[] = [];
  #size = 0;
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly draw: (bytes: Uint8Array, drawn: () => void) => void) {}

  /** Resolves when the bytes are drawn. */
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

  /** Draws what was gathered now. */
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
