import { until } from '@belay/testing';
import { TestLogs } from '../testing/logs.js';
import { Leftovers } from './leftovers.js';
import { WorkspaceStore } from './workspace.store.js';

it('keeps an old upload that a session begins to use while uploads are listed', async () => {
  const logs = await new TestLogs().open();
  const removed: string[] = [];
  const objects = {
    async *list() {
      yield { key: 'workspaces/used.tar', storedMs: 0, bytes: 1 };
      await logs.session('s', { workspace: 'used' });
      yield { key: 'workspaces/unused.tar', storedMs: 0, bytes: 1 };
    },
    remove: async (key: string) => void removed.push(key),
  };
  const none = {} as never;
  const leftovers = new Leftovers(
    logs.log,
    new WorkspaceStore(logs.config, none, none, none, objects as never, none),
    { removeAllUnused: async () => {} } as never,
    { removeUnused: async () => {} } as never,
  );
  leftovers.onLead();
  await until('the unused one is removed', () => removed.includes('workspaces/unused.tar'));
  leftovers.onModuleDestroy();
  expect(removed).toEqual(['workspaces/unused.tar']);
  await logs.close();
});
