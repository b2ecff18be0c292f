import { chmodSync } from 'node:fs';
import { connect, createServer } from 'node:net';

/** Passes connections on to `target` (a port or a Unix socket's path) until they are cut. */
export async function breakingProxy(target, listenOn) {
  const open = new Set();
  const server = createServer((near) => {
    const far = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target);
    const pair = [near, far];
    open.add(pair);
    for (const [from, to] of [pair, [far, near]]) {
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(pair);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise((done) => server.listen(listenOn, done));
  if (typeof listenOn === 'string') chmodSync(listenOn, 0o666);
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    get connections() {
      return open.size;
    },
    /** Breaks every connection as a pulled plug does: without a goodbye. */
    cut() {
      for (const [near, far] of open) {
        near.destroy();
        far.destroy();
      }
    },
    close() {
      server.close();
      for (const [near, far] of open) for (const socket of [near, far]) socket.destroy();
    },
  };
}
