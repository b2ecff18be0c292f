import { percentile } from '../bench-table.mjs';
import { sample, withServer } from './setting.mjs';
import { firstOutput, poolRest } from './starts.mjs';

export const title = 'warm start';

export function measure() {
  return withServer({ BELAY_POOL: '2' }, async (server) => {
    const samples = await sample(20, async () => {
      await poolRest();
      return firstOutput(server);
    });
    return [
      { what: 'warm start, p50', value: percentile(samples, 0.5), unit: 'ms', most: 60 },
      { what: 'warm start, p95', value: percentile(samples, 0.95), unit: 'ms', most: 150 },
    ];
  });
}
