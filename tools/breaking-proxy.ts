import { chmodSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

export interface BreakingProxy {
  readonly url: string;
  readonly connections: number;
  /** Breaks all connections as a pulled plug does, without closing them properly. */
  cut(): void;
  /**
   * Makes connections half-open: no data passes, and neither end notices. New connections wait,
   * too.
   */
  freeze(): void;
  /** Passes on the data that was held back, and all data from then on. */
  thaw(): void;
  /** Delays each chunk by this many milliseconds. */
  slow(ms: number): void;
  close(): void;
}

/** Forwards connections to `target` (a port or a Unix socket’s path) until they are cut. */
export async function breakingProxy(
  target: number | string,
  listenOn: number | string,
): Promise<BreakingProxy> {
  const open = new Set<[Socket, Socket]>();
  const gate = new Gate();
  const server = createServer((near) => {
    const far = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target);
    const pair: [Socket, Socket] = [near, far];
    open.add(pair);
    for (const [from, to] of [pair, [far, near]] as const) {
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(pair);
        void gate.passed().then(() => to.destroy());
      });
      from.pipe(gate.stream()).pipe(to);
    }
  });
  await new Promise<void>((done) => server.listen(listenOn, done));
  if (typeof listenOn === 'string') chmodSync(listenOn, 0o666);
  const address = server.address();
  const port = typeof address === 'string' ? 0 : (address?.port ?? 0);
  const cut = () => {
    for (const pair of open) for (const socket of pair) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return open.size;
    },
    cut,
    freeze: () => gate.shut(),
    thaw: () => gate.open(),
    slow: (ms) => (gate.delayMs = ms),
    close() {
      gate.open();
      server.close();
      cut();
    },
  };
}

/** Holds back or delays the chunks of all connections. */
class Gate {
  delayMs = 0;
  #opened = Promise.resolve();
  #open: () => void = () => {};

  shut(): void {
    this.open();
    this.#opened = new Promise((open) => (this.#open = open));
  }

  open(): void {
    this.#open();
  }

  passed(): Promise<void> {
    return this.#opened;
  }

  stream(): Duplex {
    const pass = this.#pass.bind(this);
    return Duplex.from(async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        await pass();
        yield piece;
      }
    });
  }

  async #pass(): Promise<void> {
    if (this.delayMs > 0) await delay(this.delayMs);
    await this.#opened;
  }
}
