import { Duplex, Readable } from 'node:stream';
import { AppError, type StreamMeta } from '@belay/protocol';
import type { CopyStore } from '../copy-sender.js';

type Stored = StreamMeta<'copies.store'> & { bytes: Buffer };

/** For tests: the server’s end of copies in memory, with its rules. */
export class CopyShelf implements CopyStore {
  parts: Stored[] = [];
  maxBytes = Infinity;
  wanted = true;
  /** Thrown by the next part. */
  failure: AppError | undefined;

  async stored() {
    const last = (kind: Stored['kind']) => this.parts.findLast((part) => part.kind === kind);
    return {
      next: this.#next,
      steps: last('steps')?.n ?? 0,
      repository: last('repository')?.n ?? 0,
      commit: last('steps')?.commit ?? null,
      wanted: this.wanted,
    };
  }

  async open(part: StreamMeta<'copies.store'>): Promise<Duplex> {
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
    const same = this.parts.findLast(({ kind }) => kind === part.kind)?.n;
    if (part.n !== this.#next || (part.after !== 0 && part.after !== same))
      throw new AppError('conflict', `The next part is ${this.#next}.`);
    const others = this.parts.filter(({ kind }) => part.after !== 0 || kind !== part.kind);
    let left = this.maxBytes - sizeOf(others);
    const chunks: Buffer[] = [];
    const stream: Duplex = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        left -= chunk.length;
        done(left < 0 ? new AppError('limit_reached', 'The shelf is full.') : null);
      },
      final: (done) => {
        this.parts = [...others, { ...part, bytes: Buffer.concat(chunks) }];
        stream.push(null);
        done();
      },
    });
    return stream;
  }

  get bytes(): number {
    return sizeOf(this.parts);
  }

  /** Each part as `kind` and `n`, with a star if it is whole. */
  get shown(): string[] {
    return this.parts.map(({ kind, n, after }) => `${kind} ${n}${after === 0 ? '*' : ''}`);
  }

  /** The parts in order, as a new sandbox gets them. */
  *read(): Generator<[Stored['kind'], Readable]> {
    for (const { kind, bytes } of this.parts) yield [kind, Readable.from(pieces(bytes))];
  }

  get #next(): number {
    return Math.max(0, ...this.parts.map(({ n }) => n)) + 1;
  }
}

const sizeOf = (parts: readonly Stored[]): number =>
  parts.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** Odd pieces, as a connection may deliver them. */
function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 777) yield bytes.subarray(at, at + 777);
}
