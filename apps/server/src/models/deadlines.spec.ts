import { AppError } from '@belay/protocol';
import { until } from '@belay/testing';
import { TestLogs } from '../testing/logs.js';
import { Deadlines } from './deadlines.js';

let logs: TestLogs;
let deadlines: Deadlines;
beforeEach(async () => {
  logs = await new TestLogs().open();
  deadlines = new Deadlines(logs.log);
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
  await logs.session('s', { budgets: { seconds: 0.05 } });
  const append = jest.spyOn(logs.log, 'append');
  append.mockRejectedValueOnce(new AppError('internal', 'The database is locked.'));
  deadlines.retry = 20;
  deadlines.schedule(await logs.log.summary('s'));
  await until('the budget is spent', isLimited);
  expect(append).toHaveBeenCalledTimes(2);
});
