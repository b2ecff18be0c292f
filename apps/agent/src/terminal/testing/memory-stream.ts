import { Duplex } from 'node:stream';
import type { RpcStream } from '@belay/rpc';

/** A connection's stream in memory: counts what `consume` took as acknowledged. */
export class MemoryStream extends Duplex implements RpcStream {
  readonly #consume: (bytes: Buffer) => void | Promise<void>;
  acknowledged = 0;

  constructor(consume: (bytes: Buffer) => void | Promise<void>) {
    super({ writableHighWaterMark: 256 * 1024 });
    this.#consume = consume;
  }

  override _read(): void {
    // The other end has nothing to say.
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
