import { chmodSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

export interface BreakingProxy {
  readonly url: string;
  readonly connections: number;
  /** Breaks every connection as a pulled plug does: without a goodbye. */
  cut(): void;
  /** Half-open connections: nothing passes any more, and neither end is told. New connections wait, too. */
  freeze(): void;
  /** What was held passes again. */
  thaw(): void;
  /** Milliseconds that each piece waits before it passes. */
  slow(ms: number): void;
  close(): void;
}

/** Passes connections on to `target` (a port or a Unix socket's path) until they are cut. */
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

/** What all pieces of all connections pass. */
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
