import {
  AppError,
  errorFrom,
  faultOf,
  streams,
  type StreamMeta,
  type StreamName,
} from '@belay/protocol';
import { z } from 'zod';
import { ByteStream } from './byte-stream.js';
import type { Frame } from './frame.js';
import type { RopeStream, StreamOpener } from './rope.js';

interface Entry {
  stream: ByteStream;
  /** Settles what `open` promised; none for a stream that the other end opened. */
  opened?: { resolve(): void; reject(error: AppError): void };
}

// Made once: a schema costs far more to make than to use, and these see every message.
const bytes = z.instanceof(Uint8Array);
const count = z.int();

/** Streams that are open at once, at most; more are refused. */
const parallelStreams = 2_000;

/** The streams of one end, whoever opened them. */
export class Streams {
  readonly #entries = new Map<string, Entry>();
  readonly #openers = new Map<string, StreamOpener<never>>();
  #opened = 0;
  #closed: AppError | undefined;

  constructor(
    private readonly side: string,
    private readonly send: (frame: Frame) => void,
  ) {}

  accept<N extends StreamName>(name: N, opener: StreamOpener<N>): void {
    this.#openers.set(name, opener as StreamOpener<never>);
  }

  async open<N extends StreamName>(name: N, meta: StreamMeta<N>): Promise<RopeStream> {
    if (this.#closed) throw this.#closed;
    const id = `${this.side}-${++this.#opened}`;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stream = this.#create(id, { resolve, reject });
    this.send({ kind: 'open', id, name, meta });
    await promise;
    return stream;
  }

  receive(frame: Frame): void {
    if (frame.kind === 'open') {
      void this.#take(frame);
      return;
    }
    const entry = this.#entries.get(frame.id);
    if (entry) receive(entry, frame);
  }

  /** What belonged to the other end that was there before is lost. */
  breakOff(error: AppError): void {
    for (const { stream, opened } of this.#entries.values()) {
      opened?.reject(error);
      stream.breakOff(error);
    }
  }

  close(error: AppError): void {
    this.#closed = error;
    this.breakOff(error);
  }

  #create(id: string, opened?: Entry['opened']): ByteStream {
    const stream = new ByteStream({
      data: (bytes) => this.send({ kind: 'data', id, bytes }),
      took: (total) => this.send({ kind: 'took', id, total }),
      end: () => this.send({ kind: 'end', id }),
      reset: (error) => this.send({ kind: 'reset', id, error: error.toJSON() }),
      over: () => {
        if (this.#entries.get(id)?.stream === stream) this.#entries.delete(id);
      },
    });
    this.#entries.set(id, { stream, opened });
    return stream;
  }

  async #take(frame: Frame & { kind: 'open' }): Promise<void> {
    const { id } = frame;
    if (this.#entries.has(id)) return;
    const stream = this.#create(id);
    try {
      if (this.#entries.size > parallelStreams) {
        throw new AppError('limit_reached', `More than ${parallelStreams} streams at once.`);
      }
      const opener = this.#openers.get(frame.name);
      if (!opener) throw new AppError('not_found', `Nobody takes a stream named ${frame.name}.`);
      const meta = streams[frame.name as StreamName].safeParse(frame.meta);
      if (!meta.success) {
        throw new AppError('invalid_input', `${frame.name}: ${faultOf(meta.error)}.`);
      }
      await opener(meta.data as never, stream);
      if (this.#entries.get(id)?.stream === stream) this.send({ kind: 'accepted', id });
    } catch (error) {
      if (this.#entries.get(id)?.stream !== stream) return;
      const reason = errorFrom(error);
      this.send({ kind: 'refused', id, error: reason.toJSON() });
      stream.breakOff(reason);
    }
  }
}

function receive(entry: Entry, frame: Frame): void {
  const { stream, opened } = entry;
  switch (frame.kind) {
    case 'accepted':
      opened?.resolve();
      break;
    case 'data':
      stream.receive(bytes.parse(frame.bytes));
      break;
    case 'took':
      stream.acknowledge(count.parse(frame.total));
      break;
    case 'end':
      stream.receiveEnd();
      break;
    case 'refused':
    case 'reset': {
      const error = errorFrom(frame.error);
      opened?.reject(error);
      stream.breakOff(error);
      break;
    }
    default:
  }
}
