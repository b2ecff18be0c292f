import { Clock } from '../clock.js';
import { ForgeBench } from './testing/forge-bench.js';

class SetClock extends Clock {
  ms = Date.parse('2026-01-01T00:00:00Z');

  override now(): Date {
    return new Date(this.ms);
  }
}

it('asks a host nothing while it wants no requests', async () => {
  const clock = new SetClock();
  const bench = await new ForgeBench().start('github', { clock });
  const { player } = bench.played;
  const forge = bench.open();
  const limited = { code: 'limit_reached', details: { host: bench.host } };
  player.fail = { status: 429, headers: { 'retry-after': '90' }, times: 1 };
  await expect(forge.repository()).rejects.toMatchObject(limited);
  const asked = player.seen.length;
  clock.ms += 89_000;
  await expect(bench.open().self()).rejects.toMatchObject({
    ...limited,
    details: { retryAfterMs: 1_000 },
  });
  expect(player.seen).toHaveLength(asked);
  clock.ms += 1_000;
  expect((await forge.repository()).path).toBe('acme/api');
  await bench.close();
});
