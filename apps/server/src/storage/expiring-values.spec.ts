import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { Database } from './database.js';
import { ExpiringValues } from './expiring-values.js';
import { hashOfSecret } from './secrets.js';

onEveryDatabase('values that expire', (databases) => {
  let logs: TestLogs;
  let another: Database;
  let values: ExpiringValues;
  let others: ExpiringValues;
  const kind = 'request';
  const expires = Date.now() + 3600_000;

  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    another = new Database(logs.config);
    const documents = await logs.documents();
    values = new ExpiringValues(logs.database, documents);
    // Of another server, with a connection of its own.
    others = new ExpiringValues(another, documents);
  });
  afterEach(async () => {
    await another.onApplicationShutdown();
    await logs.close();
  });

  const add = (secret: string, owner = 'a', more: { expires?: number } = {}) =>
    values.add({ kind, secret, owner, text: `of ${secret}`, expires, ...more });
  const rows = () => logs.database.kysely.selectFrom('expiring_value').selectAll().execute();
  const secretsOf = async (secrets: string[]) => {
    const found = await Promise.all(secrets.map((secret) => others.find(kind, secret)));
    return secrets.filter((_, index) => found[index]);
  };

  it('come back for their secret, of which the database has only the hash', async () => {
    await add('s-123456');
    expect(await others.find(kind, 's-123456')).toMatchObject({ text: 'of s-123456' });
    expect(await others.find('login-code', 's-123456')).toBeUndefined();
    const [row] = await rows();
    const stored = JSON.stringify(row) + Buffer.from(row?.value ?? '', 'base64').toString('latin1');
    expect(stored).toContain(hashOfSecret('s-123456'));
    expect(stored).not.toContain('s-123456');
  });

  it('attacks: are not read at the place of another one, whoever writes the database', async () => {
    await add('mine');
    await add('theirs', 'b');
    const [, theirs] = await rows();
    await logs.database.kysely
      .updateTable('expiring_value')
      .set({ value: theirs?.value ?? '' })
      .where('hash', '=', hashOfSecret('mine'))
      .execute();
    await expect(values.find(kind, 'mine')).rejects.toThrow('cannot be decrypted with the key in');
    await expect(values.take(kind, 'mine')).rejects.toThrow('cannot be decrypted with the key in');
    expect(await values.find(kind, 'theirs')).toMatchObject({ text: 'of theirs' });
  });

  it('are added, changed and taken by one of those who do so at the same time', async () => {
    const both = [values, others];
    const added = await Promise.all(
      both.map((one) => one.add({ kind, secret: 's', owner: 'a', text: 'x', expires })),
    );
    expect(added.filter(Boolean)).toHaveLength(1);
    const before = await values.find(kind, 's');
    if (!before) throw new Error('It was added.');
    const changed = await Promise.all(both.map((one, at) => one.replace(before, `by ${at}`)));
    expect(changed.filter(Boolean)).toHaveLength(1);
    await others.remove(before);
    expect(await values.find(kind, 's')).toMatchObject({ text: changed.find(Boolean)?.text });
    const taken = await Promise.all([...both, ...both].map((one) => one.take(kind, 's')));
    expect(taken.filter(Boolean)).toEqual([{ text: changed.find(Boolean)?.text, owner: 'a' }]);
  });

  it('are gone when their time is over, and removed with the next one', async () => {
    await add('late', 'a', { expires: Date.now() - 1 });
    await add('later', 'b', { expires: Date.now() - 1 });
    expect(await rows()).toHaveLength(1);
    expect(await others.find(kind, 'later')).toBeUndefined();
    expect(await others.take(kind, 'later')).toBeUndefined();
    expect(await rows()).toEqual([]);
  });

  it('are renewed by those who do so at the same time, and then are the newest', async () => {
    await add('1', 'a', { expires: Date.now() + 60_000 });
    await add('2');
    const text = 'later';
    await Promise.all(
      [values, others].map((one) => one.renew({ kind, secret: '1', owner: 'a', text, expires })),
    );
    expect(await rows()).toMatchObject([{ hash: hashOfSecret('2') }, { expires }]);
    expect(await others.find(kind, '1')).toMatchObject({ text });
  });

  it('are bounded for each owner in number and size: the oldest go', async () => {
    for (const secret of ['1', '2', '3']) await add(secret);
    await add('other', 'b');
    await values.limitOf(kind, 'a', { rows: 2, size: 10 });
    expect(await secretsOf(['1', '2', '3', 'other'])).toEqual(['2', '3', 'other']);
    const second = await values.find(kind, '2');
    if (second) await values.replace(second, 'large', 10);
    await values.limitOf(kind, 'a', { rows: 2, size: 10 });
    expect(await secretsOf(['2', '3'])).toEqual(['2', '3']);
    const third = await values.find(kind, '3');
    if (third) await values.replace(third, 'one more', 1);
    await values.limitOf(kind, 'a', { rows: 2, size: 10 });
    expect(await secretsOf(['2', '3', 'other'])).toEqual(['3', 'other']);
  });

  it('are cleared of one owner, or all of a kind', async () => {
    await add('1');
    await add('2', 'b');
    await values.add({ kind: 'login-code', secret: '1', owner: 'b', text: 'a code', expires });
    await others.clear(kind, 'a');
    expect(await secretsOf(['1', '2'])).toEqual(['2']);
    await others.clear(kind);
    expect((await rows()).map((row) => row.kind)).toEqual(['login-code']);
  });
});
