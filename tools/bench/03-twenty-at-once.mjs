import { availableParallelism } from 'node:os';
import { follow, playing, rawStart, withServer } from './platform.mjs';
import { median, percentile, timed } from './statistics.mjs';

export const title = '20 agents at once: all start, and one more is queued with a reason';

export async function measure() {
  return withServer({ BELAY_POOL: '0', BELAY_MAX_SANDBOXES: '20' }, async (server) => {
    const floor = median(await timed(5, () => rawStart()));
    const model = playing(server, [
      { calls: [{ operation: 'terminal.run', input: { command: 'echo first-output' } }] },
      { calls: [{ operation: 'ask', input: { question: 'Enough?' } }] },
    ]);
    const begun = performance.now();
    const samples = await Promise.all(
      Array.from({ length: 20 }, async () => {
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
    const target = (20 * floor) / availableParallelism();
    return [
      { what: 'p95', figure: percentile(samples, 0.95), unit: 'ms', target, floor },
      { what: 'one more is queued', figure: queued ? 1 : 0, unit: '', target: 1, atLeast: true },
    ];
  });
}
