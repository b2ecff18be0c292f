import { AppError } from '@belay/protocol';
import { until } from '@belay/testing';
import { TestLogs } from '../testing/logs.js';
import { Deadlines } from './deadlines.js';

let logs: TestLogs;
let deadlines: Deadlines;
beforeEach(async () => {
  logs = await new TestLogs().open();
  deadlines = new Deadlines(logs.log);
  deadlines.onModuleInit();
});
afterEach(async () => {
  deadlines.onModuleDestroy();
  await logs.close();
});

const isLimited = async () =>
  (await logs.log.read('s', { after: 0 })).some(({ action }) => action === 'limit') || undefined;

it('ends a session whose wall time is over', async () => {
  await logs.session('s', { budgets: { seconds: 0.05 } });
  deadlines.schedule(await logs.log.summary('s'));
  await until('the budget is spent', isLimited);
});

it('looks again when the log could not be written', async () => {
  const append = jest.spyOn(logs.log, 'append');
  append.mockRejectedValueOnce(new AppError('internal', 'The database is locked.'));
  deadlines.retry = 20;
  // Its time may be over before anything else is done.
  await logs.session('s', { budgets: { seconds: 0.05 } });
  await until('the budget is spent', isLimited);
  expect(append).toHaveBeenCalledTimes(2);
});

describe('with timers that the test plays', () => {
  beforeEach(() =>
    jest.useFakeTimers({
      doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'],
    }),
  );
  afterEach(() => jest.useRealTimers());

  it('looks at one time alone when a look fails after it was scheduled anew', async () => {
    await logs.session('s', { budgets: { seconds: 60 } });
    deadlines.schedule(await logs.log.summary('s'));
    const ends = Promise.withResolvers<never>();
    jest.spyOn(logs.log, 'append').mockReturnValueOnce(ends.promise);
    jest.runOnlyPendingTimers();
    deadlines.schedule(await logs.log.summary('s'));
    ends.reject(new AppError('internal', 'The database is locked.'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(jest.getTimerCount()).toBe(1);
  });

  it('forgets the deadline of a session that is handed over', async () => {
    await logs.session('s', { budgets: { seconds: 60 } });
    deadlines.schedule(await logs.log.summary('s'));
    expect(jest.getTimerCount()).toBe(1);
    await logs.log.handOver('s', 'other');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('forgets it also while it is about to end the session', async () => {
    await logs.session('s', { budgets: { seconds: 60 } });
    deadlines.schedule(await logs.log.summary('s'));
    const ends = Promise.withResolvers<never>();
    const append = jest.spyOn(logs.log, 'append').mockReturnValueOnce(ends.promise);
    jest.runOnlyPendingTimers();
    expect(append).toHaveBeenCalled();
    await logs.log.handOver('s', 'other');
    ends.reject(new AppError('unavailable', 'Another server works on this session: try again.'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(jest.getTimerCount()).toBe(0);
  });
});
