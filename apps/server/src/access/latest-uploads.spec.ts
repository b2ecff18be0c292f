import { Documents } from '../storage/documents.js';
import { ExpiringValues } from '../storage/expiring-values.js';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { ownerCaller, type Caller } from './caller.js';
import { LatestUploads } from './latest-uploads.js';

const callerOf = (id: string): Caller => ({ ...ownerCaller, id, sessions: new Set<string>() });

onEveryDatabase('uploads of callers that see some sessions', (databases) => {
  let logs: TestLogs;
  let documents: Documents;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    documents = await logs.documents();
  });
  afterEach(() => logs.close());

  const uploads = () => new LatestUploads(new ExpiringValues(logs.database, documents));

  it('may be used by whoever made them, at any server, and by nobody else', async () => {
    await uploads().add(callerOf('a'), 'picture');
    await uploads().add(callerOf('a'), 'picture');
    const elsewhere = uploads();
    expect(await elsewhere.has(callerOf('a'), 'picture')).toBe(true);
    for (const other of ['b', 'a picture', ''])
      expect(await elsewhere.has(callerOf(other), 'picture')).toBe(false);
    expect(await elsewhere.has(callerOf('a'), 'another')).toBe(false);
    expect(await elsewhere.has(ownerCaller, 'another')).toBe(true);
  });

  it('count from when they were last made', async () => {
    const now = jest.spyOn(Date, 'now');
    const hours = (count: number) => now.mockReturnValue(count * 3_600_000);
    try {
      hours(0);
      await uploads().add(callerOf('a'), 'picture');
      for (let at = 0; at < 199; at += 1) await uploads().add(callerOf('a'), `picture ${at}`);
      hours(23);
      await uploads().add(callerOf('a'), 'picture');
      await uploads().add(callerOf('a'), 'another');
      hours(25);
      expect(await uploads().has(callerOf('a'), 'picture')).toBe(true);
      expect(await uploads().has(callerOf('a'), 'picture 1')).toBe(false);
    } finally {
      now.mockRestore();
    }
  });

  it('are only the latest', async () => {
    for (let at = 0; at <= 200; at += 1) await uploads().add(callerOf('a'), `picture ${at}`);
    await uploads().add(callerOf('b'), 'picture');
    const found = await Promise.all(
      [0, 1, 200].map((at) => uploads().has(callerOf('a'), `picture ${at}`)),
    );
    expect(found).toEqual([false, true, true]);
    expect(await uploads().has(callerOf('b'), 'picture')).toBe(true);
  });
});
