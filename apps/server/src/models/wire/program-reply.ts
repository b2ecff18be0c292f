import type { Duplex } from 'node:stream';
import {
  AppError,
  errorFrom,
  ignoreError,
  maxReplyHead,
  type ErrorCode,
  type ModelReplyHead,
} from '@belay/protocol';
import { untilAborted } from '@belay/rpc';
import { TooManyRequests } from './admission.js';
import { UnreadableEncoding } from './request-body.js';
import type { WireFormat } from './wire-format.js';

/** The statuses of Belay’s own errors; 403 for all others, which clients do not repeat. */
const statuses: Partial<Record<ErrorCode, number>> = {
  invalid_input: 400,
  not_found: 404,
  too_large: 413,
  internal: 500,
  model_failed: 502,
  unavailable: 503,
  disk_full: 503,
};

/** The reply to one request of a program, on its stream. */
export class ProgramReply {
  /** Aborts when the client is gone, or the reply is complete. */
  readonly closed: AbortSignal;
  #pings: NodeJS.Timeout | undefined;
  #state: 'waiting' | 'streaming' | 'body' = 'waiting';

  constructor(private readonly stream: Duplex) {
    const closed = new AbortController();
    this.closed = closed.signal;
    stream.once('close', () => closed.abort(new AppError('cancelled', 'The client is gone.')));
  }

  get hasBegun(): boolean {
    return this.#state !== 'waiting';
  }

  /**
   * Keeps the client of a stream that does not begin alive: a head, and then this frame again and again. Returns a
   * function that ends it; so does `begin`.
   */
  whileWaiting(ping: string, everyMs: number): () => void {
    const stop = (): void => clearInterval(this.#pings);
    this.#pings = setInterval(() => {
      const head = this.hasBegun ? Promise.resolve() : this.#head(200, streamHeaders);
      head.then(() => this.write(Buffer.from(ping))).catch(ignoreError('the client is gone'));
    }, everyMs).unref();
    this.closed.addEventListener('abort', stop, { once: true });
    return stop;
  }

  /** Throws `model_failed` if the client was told to expect a stream meanwhile, and gets something else. */
  async begin({ status, headers }: ModelReplyHead): Promise<void> {
    clearInterval(this.#pings);
    if (!this.hasBegun) return this.#head(status, headers);
    if (status !== 200 || !isEventStream(headers['content-type']))
      throw new AppError('model_failed', `The provider answered ${status}.`);
  }

  async #head(status: number, headers: Record<string, string>): Promise<void> {
    this.#state = isEventStream(headers['content-type']) ? 'streaming' : 'body';
    const head = Buffer.from(JSON.stringify({ status, headers }));
    if (head.length > maxReplyHead)
      throw new AppError('model_failed', 'The provider’s reply has too many headers.');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    await this.write(Buffer.concat([length, head]));
  }

  /** Resolves when there is space for more. Rejects when the client is gone. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    const written = new Promise<void>((resolve, reject) => {
      this.stream.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    await untilAborted(this.closed, written);
  }

  end(): void {
    this.stream.end();
  }

  /** Ends with an error in the client’s format; a body that has begun breaks off. */
  async fail(thrown: unknown, format: WireFormat): Promise<void> {
    if (this.closed.aborted) return;
    const error = errorFrom(thrown);
    if (this.#state === 'body' || (this.#state === 'streaming' && mayRepeat(error))) {
      this.stream.destroy(error);
      return;
    }
    if (this.#state === 'streaming')
      await this.write(Buffer.from(format.streamError(error.message)));
    else await this.#answer(statusOf(error), error, format);
    this.end();
  }

  async #answer(status: number, error: AppError, format: WireFormat): Promise<void> {
    const seconds = error instanceof TooManyRequests ? error.seconds : 5;
    const isTemporary = status === 429 || status >= 500;
    await this.begin({
      status,
      headers: {
        'content-type': 'application/json',
        'x-should-retry': String(isTemporary),
        ...(isTemporary && { 'retry-after': String(seconds) }),
      },
    });
    await this.write(Buffer.from(JSON.stringify(format.error(status, error.message))));
  }
}

const streamHeaders = { 'content-type': 'text/event-stream' };

const isEventStream = (type: string | undefined): boolean =>
  type?.startsWith('text/event-stream') ?? false;

function statusOf(error: AppError): number {
  if (error instanceof TooManyRequests) return 429;
  if (error instanceof UnreadableEncoding) return 415;
  return statuses[error.code] ?? 403;
}

/** A client that sees its stream break off repeats the request, which helps only after a failure on the way. */
const mayRepeat = ({ code }: AppError): boolean =>
  code === 'model_failed' || code === 'unavailable' || code === 'internal';
