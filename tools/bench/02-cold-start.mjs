import { percentile } from '../bench-table.mjs';
import { rawStart, sample, withServer } from './setting.mjs';
import { firstOutput } from './starts.mjs';

export const title = 'cold start';

export function measure(environment) {
  return withServer({ BELAY_POOL: '0' }, async (server) => {
    // In turns, so that both meet the same moods of the machine.
    const floors = [];
    const samples = await sample(10, async () => {
      floors.push(await rawStart(environment));
      return firstOutput(server);
    });
    const floor = percentile(floors, 0.5);
    const value = percentile(samples, 0.5);
    return [{ what: 'cold start, p50', value, floor, unit: 'ms', most: floor + 150 }];
  });
}
