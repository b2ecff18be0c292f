import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BelayServer } from '@belay/testkit';
import { idleSession, withServer } from './platform.ts';
import { percentile, timed } from './statistics.ts';
import { typist } from './typist.ts';
import type { Row } from '../bench-table.ts';

export const title =
  'a viewer that stalls during 60 s of flood: the server’s memory, and other viewers';

const seconds = 60;
/**
 * By then the server’s heap has grown to its size under such a flood, with or without the stalled
 * viewer.
 */
const warmUpSeconds = 30;
/**
 * About 10 MB per second: far more than a stalled viewer could receive, but not too much for a
 * disk.
 */
const flood =
  'yes 0123456789abcdef | head -c 1000000 > /tmp/m; while :; do cat /tmp/m; sleep 0.1; done\r';

/** The floors are the same flood for as long without the stalled viewer. */
export async function measure(): Promise<Row[]> {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    const { live } = server;
    const echoed = await typist(server, session);
    const terminal = { session: session.id, terminal: 'flood' };
    await live.request('terminal.open', terminal);
    await live.request('terminal.hold', { ...terminal, holder: 'user' });
    const flooded = session.countOnly('flood');
    await live.request('terminal.keys', { ...terminal, data: flood });
    await session.until(() => flooded() > 5_000_000, 'the flood');
    await echoFor(warmUpSeconds, echoed);
    const start = residentOf(server.pid);
    const floor = percentile(await echoFor(seconds, echoed), 0.95);
    const before = residentOf(server.pid);
    const stalled = await stall(server, session.id);
    try {
      const samples = await echoFor(seconds, echoed);
      const growth = Math.max(0, residentOf(server.pid) - before);
      const beside = percentile(samples, 0.95);
      return [
        {
          what: 'growth of the server',
          figure: growth / 2 ** 20,
          unit: 'MB',
          target: 20,
          floor: Math.max(0, before - start) / 2 ** 20,
        },
        {
          what: 'echo to another viewer, p95',
          figure: beside,
          unit: 'ms',
          target: Math.max(30, floor * 1.5),
          floor,
        },
      ];
    } finally {
      stalled.kill('SIGKILL');
      session.close();
    }
  });
}

async function echoFor(duration: number, echoed: () => Promise<void>): Promise<number[]> {
  const samples: number[] = [];
  for (const end = Date.now() + duration * 1_000; Date.now() < end;) {
    samples.push(...(await timed(1, echoed)));
    await new Promise((done) => setTimeout(done, 50));
  }
  return samples;
}

/** Starts a viewer in another process, and stops that in the middle of the flood. */
async function stall(server: BelayServer, session: string): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('stalled-viewer-process.ts', import.meta.url));
  const child = spawn(process.execPath, [file, session], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BELAY_URL: server.url, BELAY_TOKEN: server.token },
  });
  await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  return child;
}

function residentOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
