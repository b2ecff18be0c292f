import { z } from 'zod';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { ExpiringValues } from './expiring-values.js';
import { OneTimeCodes } from './one-time-codes.js';

onEveryDatabase('codes that are valid once', (databases) => {
  let logs: TestLogs;
  beforeEach(async () => void (logs = await new TestLogs(databases).open()));
  afterEach(() => logs.close());

  /** As a server opens them. */
  async function opened(max?: number): Promise<OneTimeCodes<string>> {
    const values = new ExpiringValues(logs.database, await logs.documents());
    return new OneTimeCodes(values, 'login-code', z.string(), max);
  }

  it('are taken once, also after the end of the server that made them', async () => {
    const code = await (await opened()).put('a login', 'a', 60_000);
    await logs.reopen();
    const servers = [await opened(), await opened()];
    expect(await servers[0]?.take('another code')).toBeUndefined();
    const taken = await Promise.all(servers.map((server) => server.take(code)));
    expect(taken.filter((value) => value !== undefined)).toEqual(['a login']);
    expect(await servers[0]?.take(code)).toBeUndefined();
  });

  it('are gone when their time is over', async () => {
    const codes = await opened();
    expect(await codes.take(await codes.put('late', 'a', 0))).toBeUndefined();
  });

  it('are bounded: the oldest of the owner with the most goes for one more', async () => {
    const codes = await opened(3);
    const made: string[] = [];
    for (const owner of ['a', 'b', 'b', 'b', 'c'])
      made.push(await codes.put(`${made.length}`, owner, 60_000));
    const taken: unknown[] = [];
    for (const code of made) taken.push(await codes.take(code));
    expect(taken).toEqual(['0', undefined, undefined, '3', '4']);
  });

  it('end together, of one owner or all, also those that are just being stored', async () => {
    const codes = await opened();
    const [mine, theirs] = [
      await codes.put('mine', 'a', 60_000),
      await codes.put('x', 'b', 60_000),
    ];
    const storing = codes.put('late', 'a', 60_000);
    await codes.clear('a');
    const next = await codes.put('next', 'a', 60_000);
    expect(await codes.take(mine)).toBeUndefined();
    expect(await codes.take(await storing)).toBeUndefined();
    expect(await codes.take(next)).toBe('next');
    await codes.clear();
    expect(await codes.take(theirs)).toBeUndefined();
  });

  it('attacks: are void at once, and if their end cannot be stored', async () => {
    const codes = await opened();
    const code = await codes.put('mine', 'a', 60_000);
    const { schema } = logs.database.kysely;
    await schema.alterTable('expiring_value').renameTo('elsewhere').execute();
    await expect(codes.clear('a')).rejects.toThrow();
    await schema.alterTable('elsewhere').renameTo('expiring_value').execute();
    expect(await codes.take(code)).toBeUndefined();
  });
});
