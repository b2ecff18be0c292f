import type { RopeStream } from '@belay/rope';
import { pageSize, type Tape } from './tape.js';

export type OpenStream = (meta: { terminal: string; offset: number }) => Promise<RopeStream>;

/** How long bytes that follow others closely are gathered, in ms: a pty gives 4 KiB at a time, and each message has its price. */
const gathering = 2;
const firstRetry = 100;
const lastRetry = 5_000;

/**
 * Sends a terminal's tape to the server as it grows. A broken stream is opened again at the last acknowledged byte:
 * the server ignores what it has stored already. `onDrain` says that bytes left, so that reading may go on.
 */
export class Outlet {
  #stream: RopeStream | undefined;
  /** Offset at which the open stream began. */
  #base: number;
  #sent: number;
  #acknowledged: number;
  #closed = false;
  #scheduled = false;
  #sentAt = 0;
  #blocked = false;
  #retry = firstRetry;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly terminal: string,
    private readonly tape: () => Tape,
    private readonly options: { start: number; open: OpenStream; onDrain: () => void },
  ) {
    this.#base = this.#sent = this.#acknowledged = options.start;
    void this.#connect();
  }

  /** Everything before this offset is stored by the server. */
  get acknowledged(): number {
    if (this.#stream)
      this.#acknowledged = Math.max(this.#acknowledged, this.#base + this.#stream.acknowledged);
    return this.#acknowledged;
  }

  /** Bytes that wait to be sent. */
  get waiting(): number {
    return this.tape().end - this.#sent;
  }

  /** Call after the tape has grown: what comes alone leaves at once, what follows closely travels together. */
  notify(): void {
    if (this.waiting >= pageSize) this.#pump(pageSize);
    if (this.#scheduled || this.#blocked || this.waiting === 0) return;
    this.#scheduled = true;
    const pump = () => {
      this.#scheduled = false;
      this.#pump();
    };
    if (performance.now() - this.#sentAt < gathering) setTimeout(pump, gathering);
    else setImmediate(pump);
  }

  /** Sends what waits without gathering more: nothing is about to follow. */
  flush(): void {
    this.#pump();
  }

  /** Nothing more is written to the tape: what is left of it is sent, then the stream ends. */
  close(): void {
    this.#closed = true;
    this.#timer?.unref();
    this.#pump();
  }

  #pump(least = 1): void {
    const stream = this.#stream;
    const tape = this.tape();
    if (!stream || this.#blocked) return;
    while (tape.end - this.#sent >= least) {
      const bytes = tape.piece(this.#sent);
      this.#sent += bytes.length;
      this.#sentAt = performance.now();
      if (!stream.write(bytes)) {
        this.#blocked = true;
        break;
      }
    }
    if (this.#closed && this.#sent >= tape.end) stream.end();
    this.options.onDrain();
  }

  async #connect(): Promise<void> {
    try {
      const offset = this.#acknowledged;
      const stream = await this.options.open({ terminal: this.terminal, offset });
      this.#attach(stream, offset);
    } catch {
      // The server is away or refuses for now: the bytes wait, and the pty with them.
      this.#later();
    }
  }

  #attach(stream: RopeStream, offset: number): void {
    this.#stream = stream;
    this.#base = this.#sent = offset;
    this.#blocked = false;
    this.#retry = firstRetry;
    stream.resume();
    stream.on('drain', () => {
      if (this.#stream !== stream) return;
      this.#blocked = false;
      this.#pump();
    });
    stream.on('error', () => undefined);
    stream.once('close', () => this.#detach(stream));
    this.#pump();
  }

  #detach(stream: RopeStream): void {
    if (this.#stream !== stream) return;
    this.#acknowledged = this.acknowledged;
    this.#stream = undefined;
    this.#sent = this.#acknowledged;
    if (!this.#closed || this.#acknowledged < this.tape().end) this.#later();
  }

  #later(): void {
    this.#timer = setTimeout(() => void this.#connect(), this.#retry);
    // What waits for a server that is away does not keep an agent alive that has ended.
    if (this.#closed) this.#timer.unref();
    this.#retry = Math.min(lastRetry, this.#retry * 2);
  }
}
