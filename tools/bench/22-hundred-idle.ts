import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { idleSession, withServer } from './platform.ts';
import { percentile, timed } from './statistics.ts';
import type { BelayServer } from '@belay/testkit';
import type { Row } from '../bench-table.ts';

export const title = '100 idle sandboxes: memory of the server, and the time of /health';

const count = 100;
/** As many as the server starts at once. */
const atOnce = 4;
const requests = 500;

/** Floors: the server without sandboxes, and a bare HTTP server of Node. */
export async function measure(): Promise<Row[]> {
  return withServer({ BELAY_POOL: '0', BELAY_MAX_SANDBOXES: String(count) }, async (server) => {
    const alone = residentMb(server.pid);
    await startSandboxes(server);
    // An agent is idle after ten seconds without an event.
    await new Promise((done) => setTimeout(done, 12_000));
    const bare = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
    await once(bare, 'listening');
    const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
    const floors: number[] = [];
    const samples: number[] = [];
    for (let round = 0; round < requests; round++) {
      floors.push(...(await timed(1, () => answered(bareUrl))));
      samples.push(...(await timed(1, () => answered(`${server.url}/health`))));
    }
    bare.close();
    bare.closeAllConnections();
    return [
      {
        what: 'resident memory',
        figure: residentMb(server.pid),
        unit: 'MB',
        target: 400,
        floor: alone,
      },
      {
        what: '/health p95',
        figure: percentile(samples, 0.95),
        unit: 'ms',
        target: 100,
        floor: percentile(floors, 0.95),
      },
    ];
  });
}

async function startSandboxes(server: BelayServer): Promise<void> {
  for (let started = 0; started < count; started += atOnce) {
    const sessions = await Promise.all(Array.from({ length: atOnce }, () => idleSession(server)));
    for (const session of sessions) session.close();
  }
}

async function answered(url: string): Promise<void> {
  const response = await fetch(url);
  await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
