import { AppError } from '@belay/protocol';
import { CallerEnds } from '../../access/caller-ends.js';
import { ownerCaller, viewerCaller } from '../../access/caller.js';
import { ExpiringValues } from '../../storage/expiring-values.js';
import { TestLogs } from '../../testing/logs.js';
import { answerOf, GptRuns } from './gpt-runs.js';

describe('calls of GPTs', () => {
  let logs: TestLogs;
  let ends: CallerEnds;
  beforeEach(async () => void (logs = await new TestLogs().open()));
  afterEach(() => {
    jest.restoreAllMocks();
    return logs.close();
  });

  /** As a server has them after its start. */
  async function started(): Promise<GptRuns> {
    ends = new CallerEnds();
    return new GptRuns(new ExpiringValues(logs.database, await logs.documents()), ends);
  }
  async function ended(runs: GptRuns, work: () => Promise<unknown>): Promise<string> {
    const run = runs.begin(ownerCaller, work);
    await run.ended;
    return run.id;
  }
  const found = async (runs: GptRuns, id: string, caller = ownerCaller) =>
    answerOf(await runs.find(caller, id), { seconds: 0 });
  const gone = (runs: GptRuns, id: string, caller = ownerCaller) =>
    expect(found(runs, id, caller)).rejects.toThrow('There is no such run');

  it('keep how they ended, also after a restart', async () => {
    const before = await started();
    const done = await ended(before, () => Promise.resolve({ exitCode: 3 }));
    const refusal = new AppError('rejected', 'Not today', { by: 'user' });
    const refused = await ended(before, () => Promise.reject(refusal));
    await logs.reopen();
    const after = await started();
    // The second time, from the memory.
    for (let times = 0; times < 2; times += 1) {
      expect(await found(after, done)).toMatchObject({ status: 'done', output: { exitCode: 3 } });
      await expect(found(after, refused)).rejects.toEqual(refusal);
    }
  });

  it('store neither very long results nor what went wrong in the server', async () => {
    const before = await started();
    const long = await ended(before, () => Promise.resolve('x'.repeat(2 ** 20)));
    const failed = await ended(before, () => Promise.reject(new Error('at /root')));
    expect(await found(before, long)).toMatchObject({ status: 'done', next: 80_000 });
    await expect(found(before, failed)).rejects.toThrow('at /root');
    const after = await started();
    for (const id of [long, failed]) await gone(after, id);
  });

  it('give their result although it cannot be stored', async () => {
    const runs = await started();
    jest
      .spyOn(ExpiringValues.prototype, 'add')
      .mockRejectedValue(new AppError('disk_full', 'Full.'));
    const id = await ended(runs, () => Promise.resolve('out'));
    expect(await found(runs, id)).toMatchObject({ output: 'out' });
  });

  it('end with the access of their caller', async () => {
    const runs = await started();
    const run = runs.begin(ownerCaller, (_, signal) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      signal.addEventListener('abort', () => resolve('cancelled'));
      return promise;
    });
    ends.end(viewerCaller.id);
    expect(run.result).toBeUndefined();
    ends.end(ownerCaller.id);
    await run.ended;
    expect(await found(runs, run.id)).toMatchObject({ output: 'cancelled' });
  });

  it('attacks: are found by nobody else, and not after their hour', async () => {
    const id = await ended(await started(), () => Promise.resolve('secret'));
    const runs = await started();
    await gone(runs, id, viewerCaller);
    await gone(runs, `${id.slice(0, -1)}x`);
    // The control: the caller itself. What it has read stays its own.
    expect(await found(runs, id)).toMatchObject({ output: 'secret' });
    await gone(runs, id, viewerCaller);
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now + 3600_000 + 1);
    await gone(await started(), id);
  });
});
