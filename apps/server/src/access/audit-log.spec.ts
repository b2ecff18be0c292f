import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { AuditLog } from './audit-log.js';
import { ColdChanges } from '../storage/cold-changes.js';
import { CallerEnds } from './caller-ends.js';
import { ownerCaller } from './caller.js';
import { UsersStore } from './users.store.js';

onEveryDatabase('the audit log', (databases) => {
  let logs: TestLogs;
  let audit: AuditLog;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    audit = new AuditLog(logs.database);
  });
  afterEach(() => logs.close());

  const record = (subject: string, by: 'owner' | 'nobody' = 'owner') => {
    const caller = by === 'owner' ? ownerCaller : undefined;
    const outcome = caller ? 'ok' : 'unauthorized';
    audit.record({ api: 'rest', caller, action: 'x', subject, outcome });
  };

  it('is read in pages, each entry once and in one line', async () => {
    for (const subject of ['first', 'a\u001b[2J\nline\0', 'x'.repeat(1_000)]) record(subject);
    const { entries, next } = await audit.page({ limit: 2 });
    expect(entries.map(({ subject }) => subject.length)).toEqual([300, 'a [2J line '.length]);
    const rest = await audit.page({ limit: 2, before: next ?? 0 });
    expect(rest.entries.map(({ subject }) => subject)).toEqual(['first']);
    expect(rest.next).toBeNull();
  });

  it('attacks: is not changed, and not filled by callers that nobody knows', async () => {
    // All in one minute: each has a limit of its own.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    record('honest');
    for (let count = 0; count < 500; count += 1) record('flood', 'nobody');
    expect((await audit.page({ limit: 1_000 })).entries.length).toBeLessThanOrEqual(121);
    clock.mockRestore();
    const change = logs.database.kysely.updateTable('audit').set({ subject: 'other' });
    await change.execute().catch(() => undefined);
    const { entries } = await audit.page({ limit: 1_000, caller: 'owner' });
    expect(entries.map(({ subject }) => subject)).toEqual(['honest']);
  });

  it('has users beside it whose passwords are stored as argon2id', async () => {
    const open = async () => {
      const users = new UsersStore(
        logs.database,
        new CallerEnds(),
        new ColdChanges(logs.config, logs.database),
      );
      await users.onModuleInit();
      return users;
    };
    const users = await open();
    await users.create({ name: 'ada', password: 'correct horse', scope: 'view' });
    await expect(
      users.create({ name: 'ada', password: 'correct horse', scope: 'admin' }),
    ).rejects.toMatchObject({ code: 'conflict' });
    const [row] = await logs.database.kysely.selectFrom('account').selectAll().execute();
    expect(row?.password).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    const again = await open();
    expect(await again.withPassword('ada', 'wrong horse')).toBeUndefined();
    expect(await again.withPassword('ada', 'correct horse')).toMatchObject({ scope: 'view' });
  });
});
