import { Duplex } from 'node:stream';
import type { RpcStream } from '@belay/rpc';

/** A connection’s stream in memory; bytes count as acknowledged once `consume` has taken them. */
export class MemoryStream extends Duplex implements RpcStream {
  readonly #consume: (bytes: Buffer) => void | Promise<void>;
  acknowledged = 0;

  constructor(consume: (bytes: Buffer) => void | Promise<void>) {
    super({ writableHighWaterMark: 256 * 1024 });
    this.#consume = consume;
  }

  override _read(): void {
    // Nothing to read: the other end never sends.
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const acknowledge = () => {
      this.acknowledged += chunk.length;
      done();
    };
    const consumed = this.#consume(chunk);
    if (consumed) void consumed.then(acknowledge, done);
    else acknowledge();
  }
}
