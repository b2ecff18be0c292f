import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Two connected sockets: what is written to `far` waits for `near` at once, also if this process does not read it yet. */
export async function socketPair(): Promise<{ near: Socket; far: Socket; close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'belay-sockets-'));
  const server = createServer().listen(join(folder, 'socket'));
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const far = connect(join(folder, 'socket'));
  await once(far, 'connect');
  const [near] = await accepted;
  const close = () => {
    for (const socket of [near, far]) socket.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  };
  return { near, far, close };
}
