import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveConnection } from '@belay/client';
import { isEnded } from '@belay/protocol';
import {
  BelayServer,
  Chromium,
  Followed,
  containerOf,
  docker,
  idle,
  prepared,
  script,
  type Turn,
} from '@belay/testkit';
import type { Container } from 'dockerode';

export { containerOf, docker };

/** Runs a measurement with a real server and real sandboxes, and removes them afterwards. */
export async function withServer<T>(
  environment: Record<string, string>,
  measure: (server: BelayServer) => Promise<T>,
): Promise<T> {
  const server = new BelayServer({ BELAY_LOG_LEVEL: 'warn', ...environment });
  await server.start();
  try {
    return await measure(server);
  } finally {
    await server.dispose();
  }
}

/** Runs a measurement with a new browser. */
export async function withChromium<T>(measure: (chromium: Chromium) => Promise<T>): Promise<T> {
  const chromium = new Chromium({ motion: true, whole: true });
  await chromium.start();
  try {
    return await measure(chromium);
  } finally {
    await chromium.dispose();
  }
}

/** A session that waits for the user, so that the measurement has the sandbox to itself. */
export const idleSession = (server: BelayServer) => idle(server);
/** A viewer with its own socket; `url` may be that of a proxy. */
export const viewer = (server: BelayServer, url = server.url) =>
  new LiveConnection({ url, token: server.token });
export const playing = (server: BelayServer, turns: Turn[]) => script(server.data, turns);
export const follow = (server: BelayServer, id: string) => new Followed(server, id);

/** Rejects when the session ends; polls rarely, so as not to affect the measured steps. */
export async function untilEnded(server: BelayServer, id: string): Promise<never> {
  for (;;) {
    await new Promise((done) => setTimeout(done, 5_000));
    const { state, reason } = await server.client.sessions.get(id);
    if (isEnded(state)) throw new Error(`The session ended early (${state}): ${reason}`);
  }
}

/** Programs for a bare container that print one line. */
const printed = {
  echo: ['echo', 'ready'],
  node: ['/opt/belay/node', '-p', '0'],
};

/**
 * The same container without Belay: create, start, first output, remove. The floor of a cold start,
 * in milliseconds.
 */
export async function rawStart(program: keyof typeof printed = 'echo'): Promise<number> {
  const begun = performance.now();
  const runtime = { Source: prepared('BELAY_RUNTIME'), Target: '/opt/belay', ReadOnly: true };
  const container = await docker.createContainer({
    Image: prepared('BELAY_TEST_IMAGE'),
    Cmd: printed[program],
    User: '1000:1000',
    Labels: { 'belay.bench': 'raw' },
    HostConfig: {
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      NetworkMode: 'none',
      Init: true,
      PidsLimit: 512,
      Memory: 2 ** 31,
      MemorySwap: 2 ** 31,
      Tmpfs: { '/tmp': 'exec' },
      ...(program === 'node' && { Mounts: [{ Type: 'volume', ...runtime }] }),
    },
  });
  const output = await container.attach({ stream: true, stdout: true, stderr: true });
  await container.start();
  await once(output, 'data');
  const took = performance.now() - begun;
  await container.remove({ force: true });
  return took;
}

/** Duration of one `docker exec` with the command-line client, in milliseconds. */
export async function dockerExec(container: Container, ...command: string[]): Promise<number> {
  const begun = performance.now();
  const child = spawn('docker', ['exec', container.id, ...command], { stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - begun;
}

export function temporaryFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'belay-bench-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
