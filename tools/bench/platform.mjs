import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const { BelayServer, Followed, containerOf, docker, idle, script } = require('../../libs/testkit');
const { Live } = require('../../libs/client');

export { containerOf, docker };

/** Runs a measurement against a real server with real sandboxes, and removes all of it after it. */
export async function withServer(environment, measure) {
  const server = new BelayServer({ BELAY_LOG_LEVEL: 'warn', ...environment });
  await server.start();
  try {
    return await measure(server);
  } finally {
    await server.dispose();
  }
}

/** A session that waits for a person, so that a measurement has its sandbox to itself. */
export const idleSession = (server) => idle(server);
/** A viewer with a socket of its own; a proxy's address may stand in for the server's. */
export const viewer = (server, url = server.url) => new Live({ url, token: server.token });
export const playing = (server, turns) => script(server.data, turns);
export const follow = (server, id) => new Followed(server, id);

/** Waits until the pool has this many agents that idle. */
export async function warm(server, count) {
  const wanted = new RegExp(`^belay_sandboxes\\{[^}]*state="warm"[^}]*\\} ${count}$`, 'm');
  const deadline = Date.now() + 60_000;
  for (;;) {
    const headers = { authorization: `Bearer ${server.token}` };
    const metrics = await (await fetch(`${server.url}/metrics`, { headers })).text();
    if (wanted.test(metrics)) return;
    if (Date.now() > deadline)
      throw new Error(`No ${count} warm sandboxes within a minute.\n${server.log.slice(-2000)}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** The same box without Belay: create, start, echo, remove. The floor of a cold start, in milliseconds. */
export async function rawStart(image = process.env.BELAY_TEST_IMAGE) {
  const begun = performance.now();
  const container = await docker.createContainer({
    Image: image,
    Cmd: ['echo', 'ready'],
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
    },
  });
  const output = await container.attach({ stream: true, stdout: true, stderr: true });
  await container.start();
  await once(output, 'data');
  const took = performance.now() - begun;
  await container.remove({ force: true });
  return took;
}

/** One `docker exec` of the command-line client, in milliseconds. */
export async function dockerExec(container, ...command) {
  const begun = performance.now();
  const child = spawn('docker', ['exec', container.id, ...command], { stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - begun;
}

export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'belay-bench-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
