import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections (from 32768 on Linux) and to services of Kubernetes (from
 * 30000): there, a connection of another program could take a port before the test listens on it, or while the test
 * restarts what listened on it.
 */
const firstPort = 12_000;
const endPort = 30_000;

/**
 * A port of loopback that nothing listens on, for programs that cannot choose one or must keep theirs over a restart. No
 * other test gets it while this process lives, also one of another run on this machine.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, endPort);
    if ((await isFree(port)) && (await isReserved(port))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    return await listens(probe.listen(port, '127.0.0.1'));
  } finally {
    await new Promise((closed) => probe.close(closed));
  }
}

/** By a socket in Linux’s abstract namespace, which has no file and ends with this process. */
function isReserved(port: number): Promise<boolean> {
  return listens(createServer().listen(`\0belay-test-port-${port}`).unref());
}

/** False where something else listens. */
async function listens(server: Server): Promise<boolean> {
  try {
    await once(server, 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}
