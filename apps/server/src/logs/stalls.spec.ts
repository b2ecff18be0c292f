import { newEvent, type AgentEvent, type SessionSummary } from '@belay/protocol';
import { until } from '@belay/testing';
import { sql } from 'kysely';
import { TestLogs } from '../testing/logs.js';

/** SQLite fails as it does on a full disk when its file may not grow. */
describe('a full disk', () => {
  let logs: TestLogs;
  let seen: Pick<SessionSummary, 'state' | 'reason'>[];
  beforeEach(async () => {
    logs = await new TestLogs().open();
    await logs.session('s');
    seen = [];
    logs.log.subscribeAll((_, __, { state, reason }) => seen.push({ state, reason }));
  });
  afterEach(async () => {
    await space();
    await logs.close();
  });

  const pages = (count: number) =>
    sql`pragma max_page_count = ${sql.lit(count)}`.execute(logs.database.kysely);
  const full = () => pages(1); // No less than it has already.
  const space = () => pages(1_000_000);
  const state = async () => (await logs.log.summary('s')).state;
  const actions = async () => (await logs.log.read('s', { after: 0 })).map(({ action }) => action);
  const big = (n: number): AgentEvent => ({
    n,
    time: new Date().toISOString(),
    action: 'terminal.run',
    args: { command: 'x'.repeat(300_000) },
    message: 'terminal.run',
    id: `c${n}`,
  });
  const usage = () =>
    newEvent('server', 'retry', {
      args: { attempt: 1, seconds: 1, error: 'x'.repeat(300_000) },
      message: 'Tried again',
    });

  it('shows that the session waits, until what its agent sends again is stored', async () => {
    const epoch = await logs.log.epoch('s');
    await full();
    for (const _ of [1, 2]) {
      await expect(logs.log.appendFromAgent('s', epoch, [big(1)])).rejects.toMatchObject({
        code: 'disk_full',
      });
    }
    const waits = { state: 'waiting', reason: expect.stringMatching(/^The disk is full: free/) };
    expect(await logs.log.summary('s')).toMatchObject({ ...waits, current: null });
    expect((await logs.log.summaries())[0]).toMatchObject(waits);
    expect(seen).toEqual([waits]);
    expect(logs.log.stalls.any).toBe(true);
    await space();
    const [seq] = await logs.log.appendFromAgent('s', epoch, [big(1)]);
    expect((await logs.log.read('s', { after: (seq as number) - 1, limit: 1 }))[0]).toMatchObject({
      args: big(1).args,
    });
    expect(await state()).toBe('running');
    await until('the word of it', async () => (await actions()).includes('stalled'));
    expect(await actions()).toEqual(['start', 'state', 'state', 'terminal.run', 'stalled']);
    expect(seen.at(-1)).toEqual({ state: 'running', reason: null });
    expect(logs.log.stalls.any).toBe(false);
  });

  it('blocks writes of the server until there is space or they are aborted', async () => {
    await full();
    const gone = new AbortController();
    const write = () => logs.log.append('s', [usage()]);
    const written = logs.log.stalls.whenSpace('s', write);
    const given = logs.log.stalls.whenSpace('s', write, gone.signal);
    await until('the stall', async () => (await state()) === 'waiting');
    gone.abort();
    await expect(given).rejects.toMatchObject({ code: 'disk_full' });
    expect(await state()).toBe('waiting');
    await space();
    expect(await written).toMatchObject([{ action: 'retry' }]);
    expect(await state()).toBe('running');
    expect((await actions()).filter((action) => action === 'retry')).toHaveLength(1);
  });

  it('is reported to the user at once, who may try again, and blocks nothing else', async () => {
    await full();
    await expect(logs.log.append('s', [usage()])).rejects.toMatchObject({ code: 'disk_full' });
    expect(await state()).toBe('running');
    expect(logs.log.stalls.any).toBe(false);
  });

  it('is no matter of an agent that was replaced', async () => {
    const epoch = await logs.log.epoch('s');
    await full();
    await logs.log.appendFromAgent('s', epoch, [big(1)]).catch(() => undefined);
    expect(await state()).toBe('waiting');
    await space();
    await logs.log.nextEpoch('s');
    expect(await state()).toBe('running');
  });
});
