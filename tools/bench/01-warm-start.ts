import { metricsOnFreePort, untilWarm, type BelayServer } from '@belay/testkit';
import { follow, playing, rawStart, withServer } from './platform.ts';
import { median, percentile } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'warm start: session created → first output on the dashboard socket';

/** With fewer, the 95th percentile would be the slowest of all. */
const samplesTaken = 40;

/** The floor is starting the same container without Belay: the cost of a start without a pool. */
export async function measure(): Promise<Row[]> {
  const metrics = await metricsOnFreePort();
  return withServer({ BELAY_POOL: '1', ...metrics.variables }, async (server) => {
    const model = printing(server);
    const samples: number[] = [];
    const raw: number[] = [];
    for (let run = 0; run < samplesTaken; run++) {
      await untilWarm(server, 1, metrics.url);
      raw.push(await rawStart());
      samples.push(await firstOutput(server, model));
    }
    const floor = median(raw);
    return [
      { what: 'p50', figure: median(samples), unit: 'ms', target: floor * 0.25, floor },
      { what: 'p95', figure: percentile(samples, 0.95), unit: 'ms', target: floor * 0.5, floor },
    ];
  });
}

/** The model of `firstOutput`. */
export const printing = (server: BelayServer): string =>
  playing(server, [
    { calls: [{ operation: 'terminal.run', input: { command: 'echo first-output' } }] },
    { finish: 'done' },
  ]);

/** Milliseconds until the first command’s output is with a viewer. */
export async function firstOutput(server: BelayServer, model: string): Promise<number> {
  const begun = performance.now();
  const { id } = await server.client.sessions.create({ task: 'Echo', model, approvals: 'auto' });
  const session = follow(server, id);
  await session.until(() => session.terminal().includes('first-output'), 'the first output');
  const took = performance.now() - begun;
  await session.ended();
  session.close();
  await server.client.sessions.remove(id);
  return took;
}
