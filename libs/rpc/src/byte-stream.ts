import { Duplex } from 'node:stream';
import { AppError, errorFrom } from '@belay/protocol';
import { limits } from './limits.js';
import type { RpcStream } from './connection.js';

/** Maximum bytes in flight: sent and not yet consumed by the peer. */
export const streamWindow = 2 ** 20;
const chunkSize = 2 ** 16;
const joinedSize = 2 ** 12;
/** Of a flood, each acknowledgement that is saved spares both processes a message. */
const reportDelayMs = 2;

/** The messages that a stream sends to its peer. */
export interface StreamPort {
  data(bytes: Uint8Array): void;
  /** `total` bytes have been consumed here since the stream was opened. */
  consumed(total: number): void;
  end(): void;
  reset(error: AppError): void;
  /** The stream is closed; the port is not used again. */
  closed(): void;
}

/** Counts the bytes that wait for readers in all streams of a connection. */
export interface Waiting {
  bytes: number;
}

type Done = (error?: Error | null) => void;

/**
 * One endpoint of an acknowledged stream with a flow-control window (compare HTTP/2, RFC 9113 section 5.2). Bytes
 * count as consumed when the reader asks for more: in a `for await` loop after the body has run, in a pipe when the
 * destination accepts more. `finish` is emitted when the peer has consumed everything.
 */
export class ByteStream extends Duplex implements RpcStream {
  #acknowledged = 0;
  #sent = 0;
  #unsent: Buffer | undefined;
  #writeDone: Done | undefined;
  #finalDone: Done | undefined;
  #ending = false;

  readonly #queue: Uint8Array[] = [];
  #received = 0;
  #consumed = 0;
  #inReaderBytes = 0;
  #reported = 0;
  #reportTimer: NodeJS.Timeout | undefined;
  #readRequested = false;
  #ended = false;
  #resetSuppressed = false;
  readonly #port: StreamPort;
  readonly #waiting: Waiting;

  constructor(port: StreamPort, waiting: Waiting) {
    // Without read-ahead, each `_read` means that the last chunk has been consumed.
    super({ readableHighWaterMark: 0, writableHighWaterMark: 2 * chunkSize });
    this.#port = port;
    this.#waiting = waiting;
    // Iterating, piping and awaiting report errors; an `error` event without a listener must not end the process.
    this.on('error', () => {});
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Bytes from the peer. */
  receive(bytes: Uint8Array): void {
    if (this.destroyed || this.#ended || bytes.byteLength === 0) return;
    this.#received += bytes.byteLength;
    if (this.#received - this.#consumed > streamWindow) {
      this.destroy(
        new AppError('invalid_input', 'The peer sent more bytes than the stream’s window allows.'),
      );
      return;
    }
    if (this.#waiting.bytes + bytes.byteLength > limits.streamBytes) {
      this.destroy(
        new AppError('limit_reached', 'Too much data waits in the streams of the connection.'),
      );
      return;
    }
    this.#waiting.bytes += bytes.byteLength;
    this.#append(bytes);
    if (this.#readRequested) this.#deliver();
  }

  /** The peer has consumed `total` bytes since the stream was opened. */
  acknowledge(total: number): void {
    if (total <= this.#acknowledged || total > this.#sent) return;
    this.#acknowledged = total;
    this.#pump();
    this.#finish();
  }

  /** The peer has ended its half. */
  receiveEnd(): void {
    this.#ended = true;
    if (this.#readRequested) this.#deliver();
  }

  /** The peer or the connection is gone: destroys the stream without sending a reset. */
  abort(error: AppError): void {
    this.#resetSuppressed = true;
    this.destroy(error);
  }

  override _read(): void {
    this.#consumed += this.#inReaderBytes;
    this.#waiting.bytes -= this.#inReaderBytes;
    this.#inReaderBytes = 0;
    this.#reportConsumed();
    this.#deliver();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#unsent = chunk;
    this.#writeDone = done;
    this.#pump();
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'utf8', done);
  }

  override _final(done: Done): void {
    this.#ending = true;
    this.#port.end();
    this.#finalDone = done;
    this.#finish();
  }

  override _destroy(error: Error | null, done: Done): void {
    clearTimeout(this.#reportTimer);
    for (const { byteLength } of this.#queue.splice(0)) this.#waiting.bytes -= byteLength;
    this.#waiting.bytes -= this.#inReaderBytes;
    this.#inReaderBytes = 0;
    if (!this.#resetSuppressed) this.#notifyPeer(error);
    this.#port.closed();
    done(error);
  }

  /** A reader's loop destroys its stream at the end of the data, which ends this half and is not an error. */
  #notifyPeer(error: Error | null): void {
    const isComplete = !error && this.readableEnded && (this.#ending || this.writableLength === 0);
    if (!isComplete) {
      const reason = error ?? new AppError('cancelled', 'The peer closed the stream early.');
      this.#port.reset(errorFrom(reason));
      return;
    }
    this.#reportNow();
    if (!this.#ending) this.#port.end();
  }

  #deliver(): void {
    const bytes = this.#next();
    this.#readRequested = bytes === undefined && !this.#ended;
    if (bytes) {
      this.#inReaderBytes = bytes.byteLength;
      this.push(bytes);
    } else if (this.#ended) this.push(null);
  }

  /** Joins small chunks, because a queue of single bytes would take a hundred times their memory. */
  #append(bytes: Uint8Array): void {
    const last = this.#queue.at(-1);
    if (last && last.byteLength + bytes.byteLength <= joinedSize) {
      this.#queue[this.#queue.length - 1] = Buffer.concat([last, bytes]);
    } else this.#queue.push(bytes);
  }

  /** The next chunk for the reader; small queued ones are joined. */
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
      const space = Math.min(chunkSize, streamWindow - (this.#sent - this.#acknowledged));
      if (space === 0) return;
      const piece = this.#unsent.subarray(0, space);
      this.#unsent = this.#unsent.subarray(space);
      this.#sent += piece.length;
      this.#port.data(piece);
    }
    const writeDone = this.#writeDone;
    this.#unsent = undefined;
    this.#writeDone = undefined;
    writeDone?.();
  }

  #finish(): void {
    if (!this.#finalDone || this.#acknowledged < this.#sent) return;
    this.#finalDone();
    this.#finalDone = undefined;
  }

  /** Acknowledges at once when a quarter of the window is due, and once the stream has ended; otherwise a little later. */
  #reportConsumed(): void {
    if (this.#consumed === this.#reported) return;
    const isDue = this.#ended || this.#consumed - this.#reported >= streamWindow / 4;
    if (isDue) this.#reportNow();
    else this.#reportTimer ??= setTimeout(() => this.#reportNow(), reportDelayMs);
  }

  #reportNow(): void {
    clearTimeout(this.#reportTimer);
    this.#reportTimer = undefined;
    if (this.#consumed === this.#reported) return;
    this.#reported = this.#consumed;
    this.#port.consumed(this.#consumed);
  }
}
