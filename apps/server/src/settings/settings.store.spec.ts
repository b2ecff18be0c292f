import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { SettingsStore } from './settings.store.js';

onEveryDatabase('settings', (databases) => {
  let logs: TestLogs;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
  });
  afterEach(() => logs.close());

  it('are stored over what is there, also when several change them at once', async () => {
    const store = new SettingsStore(logs.database);
    await store.change({ budgets: { steps: 5 }, approvals: 'auto' });
    await Promise.all([
      store.change({ budgets: { tokens: 1_000 } }),
      store.change({ budgets: { dollars: 2 } }),
      store.change({ egress: { profile: 'list', hosts: ['a.example'] } }),
    ]);
    expect(await store.read()).toEqual({
      budgets: { steps: 5, tokens: 1_000, dollars: 2, seconds: null },
      egress: { profile: 'list', hosts: ['a.example'] },
      approvals: 'auto',
    });
  });
});
