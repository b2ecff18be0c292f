import { follow, playing, rawStart, withServer } from './platform.ts';
import { percentile } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = '20 agents at once: all start, and one more is queued with a reason';

const count = 20;
/**
 * Limit of p95 relative to the floor, which is as many containers that start Node at once without
 * Belay.
 */
const limit = 1.3;

export async function measure(): Promise<Row[]> {
  return withServer({ BELAY_POOL: '0', BELAY_MAX_SANDBOXES: String(count) }, async (server) => {
    // The first start includes what the engine loads once.
    await rawStart('node');
    const raw = async (program: 'node' | 'echo') =>
      percentile(await Promise.all(Array.from({ length: count }, () => rawStart(program))), 0.95);
    const floor = await raw('node');
    const floorOfEcho = await raw('echo');
    const model = playing(server, [
      { calls: [{ operation: 'terminal.run', input: { command: 'echo first-output' } }] },
      { calls: [{ operation: 'ask', input: { question: 'Enough?' } }] },
    ]);
    const begun = performance.now();
    const samples = await Promise.all(
      Array.from({ length: count }, async () => {
        const { id } = await server.client.sessions.create({
          task: 'Echo',
          model,
          approvals: 'auto',
        });
        const session = follow(server, id);
        await session.until(() => session.terminal().includes('first-output'), 'the first output');
        const took = performance.now() - begun;
        await session.state('waiting');
        session.close();
        return took;
      }),
    );
    const extra = await server.client.sessions.create({ task: 'One more', model });
    const queued = /free sandbox/.test((await server.client.sessions.get(extra.id)).reason ?? '');
    const p95 = { figure: percentile(samples, 0.95), unit: 'ms' };
    return [
      { what: 'p95', ...p95, target: limit * floor, floor },
      { what: 'p95 over boxes without Node', ...p95, target: null, floor: floorOfEcho },
      { what: 'one more is queued', figure: queued ? 1 : 0, unit: '', target: 1, atLeast: true },
    ];
  });
}
