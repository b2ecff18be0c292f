import { Duplex } from 'node:stream';

export interface TapOptions {
  /** While it returns a promise, no byte passes in either direction. */
  gate: () => Promise<void> | undefined;
  /** Sees each chunk before it is forwarded; an error that it throws closes the connection. */
  inspect: (chunk: Buffer) => void;
}

/**
 * A connection to the outside whose bytes are counted, inspected and held back. Destroying it destroys the connection.
 */
export class Tap extends Duplex {
  sent = 0;
  received = 0;
  readonly #inner: Duplex;
  readonly #options: TapOptions;
  #held = false;

  constructor(inner: Duplex, options: TapOptions) {
    super({ allowHalfOpen: true });
    this.#inner = inner;
    this.#options = options;
    inner.on('data', (chunk: Buffer) => void this.#deliver(chunk));
    inner.pause();
    inner.once('end', () => this.push(null));
    inner.once('error', (error) => this.destroy(error));
    inner.once('close', () => {
      if (!inner.readableEnded || !inner.writableFinished) this.destroy();
    });
    if (inner.destroyed) this.destroy();
    else if (inner.readableEnded) this.push(null);
  }

  override _read(): void {
    if (!this.#held) this.#inner.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    void this.#send(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#inner.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#inner.destroy();
    done(error);
  }

  async #send(chunk: Buffer, done: (error?: Error | null) => void): Promise<void> {
    await this.#open();
    try {
      this.#options.inspect(chunk);
    } catch (error) {
      done(error as Error);
      return;
    }
    this.sent += chunk.length;
    this.#inner.write(chunk, done);
  }

  async #deliver(chunk: Buffer): Promise<void> {
    if (this.#options.gate()) {
      this.#held = true;
      this.#inner.pause();
      await this.#open();
      this.#held = false;
      this.#inner.resume();
    }
    if (this.destroyed) return;
    this.received += chunk.length;
    if (!this.push(chunk)) this.#inner.pause();
  }

  async #open(): Promise<void> {
    for (let wait = this.#options.gate(); wait; wait = this.#options.gate()) await wait;
  }
}
