import {
  AppError,
  errorFrom,
  faultOf,
  streams,
  type StreamMeta,
  type StreamName,
} from '@belay/protocol';
import { ByteStream, type Waiting } from './byte-stream.js';
import { remoteError, type Frame, type ReceivedFrame } from './frame.js';
import { limits } from './limits.js';
import type { RpcStream, StreamOpener } from './connection.js';

interface Entry {
  stream: ByteStream;
  /** Settles the promise of `open`; absent for a stream that the peer opened. */
  opened?: { resolve(): void; reject(error: AppError): void };
}

/** The streams of one endpoint, whichever side opened them. */
export class Streams {
  readonly #entries = new Map<string, Entry>();
  readonly #openers = new Map<string, StreamOpener<never>>();
  readonly #waiting: Waiting = { bytes: 0 };
  #openedCount = 0;
  #closed: AppError | undefined;

  readonly #idPrefix: string;
  readonly #send: (frame: Frame) => void;

  /** `idPrefix` differs between the two endpoints, so that stream ids are unique. */
  constructor(idPrefix: string, send: (frame: Frame) => void) {
    this.#idPrefix = idPrefix;
    this.#send = send;
  }

  accept<N extends StreamName>(name: N, opener: StreamOpener<N>): void {
    this.#openers.set(name, opener as StreamOpener<never>);
  }

  async open<N extends StreamName>(name: N, meta: StreamMeta<N>): Promise<RpcStream> {
    if (this.#closed) throw this.#closed;
    const id = `${this.#idPrefix}-${++this.#openedCount}`;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#send({ kind: 'open', id, name, meta });
    const stream = this.#create(id, { resolve, reject });
    await promise;
    return stream;
  }

  receive({ frame, fault }: ReceivedFrame): void {
    if (frame.kind === 'open') {
      void this.#handleOpen(frame, fault);
      return;
    }
    const entry = this.#entries.get(frame.id);
    if (entry) receive(entry, frame);
  }

  /** Destroys all streams with `error`, without sending resets. */
  abort(error: AppError): void {
    for (const { stream, opened } of this.#entries.values()) {
      opened?.reject(error);
      stream.abort(error);
    }
  }

  close(error: AppError): void {
    this.#closed = error;
    this.abort(error);
  }

  #create(id: string, opened?: Entry['opened']): ByteStream {
    const port = {
      data: (bytes: Uint8Array) => this.#send({ kind: 'data', id, bytes }),
      consumed: (total: number) => this.#send({ kind: 'consumed', id, total }),
      end: () => this.#send({ kind: 'end', id }),
      reset: (error: AppError) => this.#send({ kind: 'reset', id, error: error.toJSON() }),
      closed: () => {
        if (this.#entries.get(id)?.stream === stream) this.#entries.delete(id);
      },
    };
    const stream = new ByteStream(port, this.#waiting);
    this.#entries.set(id, { stream, opened });
    return stream;
  }

  /** Never rejects: errors become the reply. */
  async #handleOpen(frame: Frame & { kind: 'open' }, fault?: AppError): Promise<void> {
    const { id } = frame;
    if (this.#entries.has(id)) return;
    const stream = this.#create(id);
    try {
      if (fault) throw fault;
      if (this.#entries.size > limits.openStreams) {
        throw new AppError('limit_reached', `More than ${limits.openStreams} streams at once.`);
      }
      const opener = this.#openers.get(frame.name);
      if (!opener)
        throw new AppError('not_found', `The peer does not accept streams named ${frame.name}.`);
      const meta = streams[frame.name as StreamName].safeParse(frame.meta);
      if (!meta.success) {
        throw new AppError('invalid_input', `${frame.name}: ${faultOf(meta.error)}.`);
      }
      await opener(meta.data as never, stream);
      if (this.#entries.get(id)?.stream === stream) this.#send({ kind: 'accepted', id });
    } catch (error) {
      if (this.#entries.get(id)?.stream !== stream) return;
      const reason = errorFrom(error);
      this.#send({ kind: 'refused', id, error: reason.toJSON() });
      stream.abort(reason);
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
      stream.receive(frame.bytes);
      break;
    case 'consumed':
      stream.acknowledge(frame.total);
      break;
    case 'end':
      stream.receiveEnd();
      break;
    case 'refused':
    case 'reset': {
      const error = remoteError(frame.error);
      opened?.reject(error);
      stream.abort(error);
      break;
    }
    default:
  }
}
