import { PostgresCluster, until } from '@belay/testing';
import { TestLogs } from '../testing/logs.js';
import { Leftovers } from './leftovers.js';
import { SessionRemoval } from './session-removal.js';

describe('while another server that shares the database deletes a session', () => {
  let cluster: PostgresCluster;
  let logs: TestLogs;
  const workspaces = { remove: jest.fn(), removeSeed: jest.fn(), removeUnused: jest.fn() };
  beforeAll(async () => void (cluster = await PostgresCluster.start()));
  beforeEach(async () => {
    logs = await new TestLogs({
      fresh: async () => ({ DATABASE_URL: await cluster.database() }),
    }).open({ BELAY_PEER_URL: 'tcp://127.0.0.1:1' });
    for (const [id, workspace] of [
      ['one', 'first'],
      ['gone', 'second'],
      ['kept', 'third'],
    ] as const) {
      await logs.session(id, { workspace });
      await logs.log.release(id);
    }
    const all = logs.store.all.bind(logs.store);
    jest.spyOn(logs.store, 'all').mockImplementationOnce(async () => {
      const records = await all();
      await logs.store.transaction((connection) => logs.store.remove(connection, 'gone'));
      return records;
    });
  });
  afterEach(async () => {
    jest.resetAllMocks();
    await logs.close();
  });
  afterAll(() => cluster.stop());

  it('all of another one is deleted', async () => {
    const nothing = { removeUnused: jest.fn(), remove: jest.fn(), forget: jest.fn() } as never;
    const discard = (_: string, removeLog: () => Promise<void>) => removeLog();
    const removal = new SessionRemoval(
      logs.log,
      nothing,
      nothing,
      workspaces as never,
      { discard } as never,
      nothing,
    );
    await removal.remove('one');
    expect(workspaces.remove).toHaveBeenCalledWith('first');
    expect(workspaces.removeSeed).toHaveBeenCalledWith('one');
  });

  it('what no session uses is found', async () => {
    const leftovers = new Leftovers(
      logs.log,
      workspaces as never,
      { removeAllUnused: jest.fn() } as never,
      { removeUnused: jest.fn() } as never,
    );
    leftovers.onLead();
    await until('they are removed', () => workspaces.removeUnused.mock.calls.length > 0);
    leftovers.onModuleDestroy();
    const used = ['one', 'gone', 'kept'].map((id) => `seed-${id}`);
    const expected = new Set([...used, 'first', 'second', 'third']);
    const [found] = workspaces.removeUnused.mock.calls[0] as [() => Promise<ReadonlySet<string>>];
    expect(await found()).toEqual(expected);
  });
});
