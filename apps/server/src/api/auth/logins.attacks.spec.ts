import { CallerEnds } from '../../access/caller-ends.js';
import { ExpiringValues } from '../../storage/expiring-values.js';
import { TestLogs } from '../../testing/logs.js';
import { Logins } from './logins.js';

describe('attacks: logins without end', () => {
  const logs = new TestLogs();
  let ends: CallerEnds;
  let logins: Logins;
  beforeEach(async () => {
    await logs.open();
    ends = new CallerEnds();
    logins = await opened();
  });
  afterEach(() => logs.close());

  async function opened(): Promise<Logins> {
    const documents = await logs.documents();
    return new Logins(documents, new ExpiringValues(logs.database, documents), ends);
  }

  it('of one caller end its own oldest, with what is open, and nobody else’s', async () => {
    const owner = await logins.create({ id: 'owner' }, []);
    const first = await logins.create({ id: 'token:link' }, []);
    const login = logins.find(first.key, [first.cookie])?.id;
    const ended: string[] = [];
    ends.on(
      { id: 'x', label: 'x', scope: 'view', sessions: 'all', begins: false, expires: null, login },
      () => ended.push('first'),
    );
    let last = first;
    for (let count = 0; count < 250; count += 1)
      last = await logins.create({ id: 'token:link' }, []);
    const caller = ({ key, cookie }: typeof owner) => logins.find(key, [cookie])?.caller;
    expect([owner, first, last].map(caller)).toEqual(['owner', undefined, 'token:link']);
    expect(ended).toEqual(['first']);
  });

  it('are not begun by displacing the codes of others either', async () => {
    const code = await logins.newCode({ id: 'owner' }, 60_000);
    for (let count = 0; count < 1_100; count += 1)
      await logins.newCode({ id: 'token:link' }, 60_000);
    expect(await logins.takeCode(code)).toBe('owner');
  });

  it('that ended are void at once, and stay so when that cannot be stored', async () => {
    const [mine, theirs] = [
      await logins.create({ id: 'a' }, []),
      await logins.create({ id: 'b' }, []),
    ];
    const isValid = ({ key, cookie }: typeof mine) => logins.find(key, [cookie]) !== undefined;
    const ending = ends.endLogins('a');
    expect([mine, theirs].map(isValid)).toEqual([false, true]);
    await ending;
    const again = await opened();
    expect(again.find(mine.key, [mine.cookie])).toBeUndefined();
    await logs.database.kysely.schema.dropTable('document').execute();
    await expect(logins.endAll()).rejects.toThrow();
    expect(isValid(theirs)).toBe(false);
    await expect(logins.create({ id: 'b' }, [theirs.cookie])).rejects.toThrow();
    expect(isValid(theirs)).toBe(false);
  });
});
