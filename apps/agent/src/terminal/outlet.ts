import { ignoreError } from '@belay/protocol';
import type { RpcStream } from '@belay/rpc';
import { pageSize, type Scrollback } from './scrollback.js';

export type OpenStream = (meta: { terminal: string; offset: number }) => Promise<RpcStream>;

/** How long bytes in quick succession are collected: a pty gives 4 KiB at a time, and each message has a cost. */
const gatherDelayMs = 2;
interface OutletOptions {
  start: number;
  open: OpenStream;
  onDrain(): void;
}

const firstRetryDelayMs = 100;
const lastRetryDelayMs = 5_000;

/**
 * Sends a terminal's scrollback to the server as it grows. After an interruption the stream is opened again at the
 * last acknowledged byte; the server ignores bytes that it has already stored. `onDrain` reports that bytes were sent,
 * so that reading may continue.
 */
export class Outlet {
  readonly #terminal: string;
  readonly #scrollback: () => Scrollback;
  readonly #options: OutletOptions;
  #stream: RpcStream | undefined;
  /** The offset at which the open stream started. */
  #base: number;
  #sent: number;
  #acknowledged: number;
  #closed = false;
  #scheduled = false;
  #sentAt = 0;
  #blocked = false;
  #retry = firstRetryDelayMs;
  #timer: NodeJS.Timeout | undefined;

  constructor(terminal: string, scrollback: () => Scrollback, options: OutletOptions) {
    this.#terminal = terminal;
    this.#scrollback = scrollback;
    this.#options = options;
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
    return this.#scrollback().end - this.#sent;
  }

  /**
   * Call it after the scrollback has grown: a single chunk is sent at once, chunks in quick succession are sent
   * together.
   */
  notify(): void {
    if (this.waiting >= pageSize) this.#pump(pageSize);
    if (this.#scheduled || this.#blocked || this.waiting === 0) return;
    this.#scheduled = true;
    const pump = () => {
      this.#scheduled = false;
      this.#pump();
    };
    if (performance.now() - this.#sentAt < gatherDelayMs) setTimeout(pump, gatherDelayMs);
    else setImmediate(pump);
  }

  /** Sends pending bytes without waiting for more. */
  flush(): void {
    this.#pump();
  }

  /** The scrollback is complete: the rest of it is sent, then the stream ends. */
  close(): void {
    this.#closed = true;
    this.#timer?.unref();
    this.#pump();
  }

  #pump(least = 1): void {
    const stream = this.#stream;
    const scrollback = this.#scrollback();
    if (!stream || this.#blocked) return;
    while (scrollback.end - this.#sent >= least) {
      const bytes = scrollback.piece(this.#sent);
      this.#sent += bytes.length;
      this.#sentAt = performance.now();
      if (!stream.write(bytes)) {
        this.#blocked = true;
        break;
      }
    }
    if (this.#closed && this.#sent >= scrollback.end) stream.end();
    this.#options.onDrain();
  }

  async #connect(): Promise<void> {
    try {
      const offset = this.#acknowledged;
      const stream = await this.#options.open({ terminal: this.#terminal, offset });
      this.#attach(stream, offset);
    } catch {
      // The server is away or refuses for now: the bytes wait, and so does the pty.
      this.#later();
    }
  }

  #attach(stream: RpcStream, offset: number): void {
    this.#stream = stream;
    this.#base = this.#sent = offset;
    this.#blocked = false;
    this.#retry = firstRetryDelayMs;
    stream.resume();
    stream.on('drain', () => {
      if (this.#stream !== stream) return;
      this.#blocked = false;
      this.#pump();
    });
    stream.on('error', ignoreError('`close` follows, and the stream is opened again'));
    stream.once('close', () => this.#detach(stream));
    this.#pump();
  }

  #detach(stream: RpcStream): void {
    if (this.#stream !== stream) return;
    this.#acknowledged = this.acknowledged;
    this.#stream = undefined;
    this.#sent = this.#acknowledged;
    if (!this.#closed || this.#acknowledged < this.#scrollback().end) this.#later();
  }

  #later(): void {
    this.#timer = setTimeout(() => void this.#connect(), this.#retry);
    // Bytes for a server that is away do not keep an ended agent alive.
    if (this.#closed) this.#timer.unref();
    this.#retry = Math.min(lastRetryDelayMs, this.#retry * 2);
  }
}
