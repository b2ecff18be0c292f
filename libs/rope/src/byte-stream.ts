import { Duplex } from 'node:stream';
import { AppError, errorFrom } from '@belay/protocol';
import type { RopeStream } from './rope.js';

/** Bytes that may be on their way, not yet consumed by the other end. */
export const streamWindow = 2 ** 20;
const chunkSize = 2 ** 16;

/** How a stream reaches its other half. */
export interface StreamPort {
  data(bytes: Uint8Array): void;
  /** The bytes consumed here so far, all together. */
  took(total: number): void;
  end(): void;
  reset(error: AppError): void;
  /** The stream is over and may be forgotten. */
  over(): void;
}

type Done = (error?: Error | null) => void;

/**
 * Half of an acknowledged stream. Bytes count as consumed when the reader asks for more: in a `for await` loop
 * when the body has run, in a pipe when the destination has room again. `finish` comes when the other side
 * has consumed everything.
 */
export class ByteStream extends Duplex implements RopeStream {
  #acknowledged = 0;
  #sent = 0;
  #unsent: Buffer | undefined;
  #written: Done | undefined;
  #finished: Done | undefined;
  #ending = false;

  readonly #queue: Uint8Array[] = [];
  #received = 0;
  #consumed = 0;
  #inReader = 0;
  #told = 0;
  #telling: NodeJS.Immediate | undefined;
  #wanted = false;
  #ended = false;
  #silent = false;

  constructor(private readonly port: StreamPort) {
    // Without read-ahead, `_read` tells exactly when the last chunk was consumed.
    super({ readableHighWaterMark: 0, writableHighWaterMark: 2 * chunkSize });
    // Who iterates, pipes or awaits is told of errors there; an event that nobody hears must not end the process.
    this.on('error', () => {});
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The other end sent bytes. */
  receive(bytes: Uint8Array): void {
    if (this.destroyed || this.#ended) return;
    this.#received += bytes.byteLength;
    if (this.#received - this.#consumed > streamWindow) {
      this.destroy(new AppError('invalid_input', 'A stream sent more than its window allows.'));
      return;
    }
    this.#queue.push(bytes);
    if (this.#wanted) this.#deliver();
  }

  /** The other end has consumed so many bytes, all together. */
  acknowledge(total: number): void {
    if (total <= this.#acknowledged || total > this.#sent) return;
    this.#acknowledged = total;
    this.#pump();
    this.#finish();
  }

  /** The other end has sent everything. */
  receiveEnd(): void {
    this.#ended = true;
    if (this.#wanted) this.#deliver();
  }

  /** The other end, or the connection, gave the stream up: nobody is told back. */
  breakOff(error: AppError): void {
    this.#silent = true;
    this.destroy(error);
  }

  override _read(): void {
    this.#consumed += this.#inReader;
    this.#inReader = 0;
    this.#tell();
    this.#deliver();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#unsent = chunk;
    this.#written = done;
    this.#pump();
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'utf8', done);
  }

  override _final(done: Done): void {
    this.#ending = true;
    this.port.end();
    this.#finished = done;
    this.#finish();
  }

  override _destroy(error: Error | null, done: Done): void {
    clearImmediate(this.#telling);
    this.#queue.length = 0;
    if (!this.#silent) this.#leave(error);
    this.port.over();
    done(error);
  }

  /** A reader's loop may destroy its stream when it is through: that ends this half, too, and breaks nothing. */
  #leave(error: Error | null): void {
    const through = !error && this.readableEnded && (this.#ending || this.writableLength === 0);
    if (!through) {
      const reason = error ?? new AppError('cancelled', 'The other side closed the stream early.');
      this.port.reset(errorFrom(reason));
      return;
    }
    this.#tellNow();
    if (!this.#ending) this.port.end();
  }

  #deliver(): void {
    const bytes = this.#next();
    this.#wanted = bytes === undefined && !this.#ended;
    if (bytes) {
      this.#inReader = bytes.byteLength;
      this.push(bytes);
    } else if (this.#ended) this.push(null);
  }

  /** The next chunk for the reader; small ones that wait are joined. */
  #next(): Uint8Array | undefined {
    const first = this.#queue.shift();
    if (!first) return undefined;
    const joined = [first];
    let size = first.byteLength;
    for (let next = this.#queue[0]; next && size + next.byteLength <= chunkSize;) {
      joined.push(next);
      size += next.byteLength;
      this.#queue.shift();
      next = this.#queue[0];
    }
    return joined.length > 1 ? Buffer.concat(joined, size) : first;
  }

  #pump(): void {
    while (this.#unsent && this.#unsent.length > 0) {
      const room = Math.min(chunkSize, streamWindow - (this.#sent - this.#acknowledged));
      if (room === 0) return;
      const piece = this.#unsent.subarray(0, room);
      this.#unsent = this.#unsent.subarray(room);
      this.#sent += piece.length;
      this.port.data(piece);
    }
    const written = this.#written;
    this.#unsent = undefined;
    this.#written = undefined;
    written?.();
  }

  #finish(): void {
    if (!this.#finished || this.#acknowledged < this.#sent) return;
    this.#finished();
    this.#finished = undefined;
  }

  /** Acknowledges at once when a quarter of the window is due, else when this turn of the event loop is over. */
  #tell(): void {
    if (this.#consumed === this.#told) return;
    if (this.#consumed - this.#told >= streamWindow / 4) this.#tellNow();
    else this.#telling ??= setImmediate(() => this.#tellNow());
  }

  #tellNow(): void {
    clearImmediate(this.#telling);
    this.#telling = undefined;
    if (this.#consumed === this.#told) return;
    this.#told = this.#consumed;
    this.port.took(this.#consumed);
  }
}
