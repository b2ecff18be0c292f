import { until } from '@belay/testing';
import { RunBench } from '../testing/run-bench.js';

const bench = new RunBench();
const { belay } = bench;
beforeAll(() => bench.start());
afterAll(() => bench.close());

const hourMs = 3_600_000;

describe('a run whose session waits for a user', () => {
  it('ends when that takes longer than it may, and goes on if the user comes before', async () => {
    const automation = await bench.byHand({ run: { approvals: 'ask', waits: '5h' } });
    const id = await bench.begin(automation);
    const session = await bench.sessionOf(id);
    const asks = async (action: 'pause' | 'resume') => {
      await belay.json('POST', `/api/sessions/${session}/${action}`, {});
      const timers = action === 'pause' ? 1 : 0;
      await until('the time is known', () => bench.waiting === timers);
    };
    await asks('pause');
    bench.clock.skip(hourMs);
    await asks('resume');
    await asks('pause');
    bench.clock.skip(hourMs);
    await until('it waits on', () => bench.waiting === 1);
    expect((await bench.run(id)).state).toBe('working');
    bench.clock.skip(4 * hourMs);
    const run = await bench.ended(id);
    expect(run).toMatchObject({ state: 'failed', code: 'waits' });
    expect(run.why).toBe('It waited for a user for 5h, as long as it may.');
    expect((await belay.log.summary(session)).state).toBe('stopped');
    expect(bench.waiting).toBe(0);
  });
});
