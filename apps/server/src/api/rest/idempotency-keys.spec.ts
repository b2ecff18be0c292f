import { AppError } from '@belay/protocol';
import { ExpiringValues } from '../../storage/expiring-values.js';
import { onEveryDatabase } from '../../testing/databases.js';
import { TestLogs } from '../../testing/logs.js';
import { IdempotencyKeys, keptMs } from './idempotency-keys.js';

interface Given {
  caller?: string;
  fingerprint?: string;
  creates?: string;
  by?: IdempotencyKeys;
}

onEveryDatabase('idempotency keys', (databases) => {
  const limits = { rows: 3, size: 1_000 };
  let logs: TestLogs;
  let now: number;
  let keys: IdempotencyKeys;
  /** What was done, by the id that it got. */
  let done: (string | undefined)[];

  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    now = 1_000;
    done = [];
    keys = await server();
  });
  afterEach(() => logs.close());

  /** As the next server opens them. */
  async function server(): Promise<IdempotencyKeys> {
    const values = new ExpiringValues(logs.database, await logs.documents());
    return new IdempotencyKeys(values, () => now, limits);
  }

  const once = (key: string, value: unknown = 'made', given: Given = {}) => {
    const { caller = 'a', fingerprint = 'x', creates, by = keys } = given;
    return by.once(caller, { key, fingerprint, creates }, (id) => {
      done.push(id);
      return value instanceof Error ? Promise.reject(value) : Promise.resolve(value);
    });
  };

  /** Resolves once its work has begun, which never ends: its server is killed then. */
  const begin = (key: string, { creates, by = keys }: Given = {}) =>
    new Promise<void>((begun) => {
      void by.once('a', { key, fingerprint: 'x', creates }, () => {
        begun();
        return new Promise(() => {});
      });
    });

  const rows = () => logs.database.kysely.selectFrom('expiring_value').selectAll().execute();

  it('do a request once, also while it is done, and for each caller by itself', async () => {
    const both = await Promise.all([once('1'), once('1')]);
    expect(both.map(({ repeated }) => repeated)).toEqual([false, true]);
    await once('1', undefined, { caller: 'b' });
    expect(done).toHaveLength(2);
    await expect(once('1', 'y', { fingerprint: 'y' })).rejects.toMatchObject({ code: 'conflict' });
    await begin('2');
    await expect(once('2', 'y', { fingerprint: 'y' })).rejects.toThrow('for another request');
  });

  it('repeat the same response on the next server, which its database does not show', async () => {
    await once('1', { token: 'secret-token', list: [1, null] });
    await expect(once('2', new AppError('tool_failed', 'no', { a: 1 }))).rejects.toThrow('no');
    expect(JSON.stringify(await rows())).not.toContain('secret-token');
    const by = await server();
    const value = { token: 'secret-token', list: [1, null] };
    expect(await once('1', 'again', { by })).toEqual({ value, repeated: true });
    expect(await once('3', undefined, { by }).then(() => once('3', 1, { by }))).toMatchObject({
      repeated: true,
    });
    const failure = { code: 'tool_failed', message: 'no', details: { a: 1 } };
    await expect(once('2', 'again', { by })).rejects.toMatchObject(failure);
    await expect(once('1', 'y', { by, fingerprint: 'y' })).rejects.toThrow('for another request');
    expect(done).toHaveLength(3);
  });

  it('try again after a failure that came before the work', async () => {
    await expect(once('1', new AppError('unavailable', 'later'))).rejects.toThrow('later');
    expect(await once('1')).toEqual({ value: 'made', repeated: false });
    await expect(once('2', new AppError('conflict', 'No key is set.'))).rejects.toThrow('No key');
    expect(await once('2', 'y', { fingerprint: 'y' })).toEqual({ value: 'y', repeated: false });
  });

  it('say that a request was cut off by the end of its server, and do not repeat it', async () => {
    await begin('1');
    const by = await server();
    await expect(once('1', 'again', { by })).rejects.toMatchObject({
      code: 'conflict',
      message:
        'The request with the Idempotency-Key 1 was cut off when the server ended, and it is not known whether its work was done. Look, then use a new key.',
    });
    await expect(once('1', 'y', { by, fingerprint: 'y' })).rejects.toThrow('for another request');
    expect(done).toEqual([]);
  });

  it('do what was cut off again with the id that it got, and so on until it has an end', async () => {
    await begin('1', { creates: 'first' });
    const second = await server();
    await begin('1', { creates: 'second', by: second });
    const by = await server();
    // A refusal says nothing about what the earlier tries did.
    const refused = new AppError('limit_reached', 'full');
    await expect(once('1', refused, { by, creates: 'third' })).rejects.toThrow('full');
    expect(await once('1', 'made', { by, creates: 'fourth' })).toMatchObject({ repeated: false });
    expect(await once('1', 'again', { by, creates: 'fifth' })).toMatchObject({ value: 'made' });
    expect(done).toEqual(['first', 'first']);
    // The control: a refusal of the first try leaves nothing behind, and a failure may.
    await expect(once('2', refused, { creates: 'one' })).rejects.toThrow('full');
    await expect(once('2', new Error('broken'), { creates: 'two' })).rejects.toThrow('broken');
    await once('2', 'made', { creates: 'three' });
    expect(done.slice(2)).toEqual(['one', 'two', 'two']);
  });

  it('attacks: keep what the next server says, whatever a former one still does', async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const late = keys.once('a', { key: '1', fingerprint: 'x', creates: 'one' }, () => {
      begun();
      return promise;
    });
    await hasBegun;
    const by = await server();
    await once('1', 'of the next', { by, creates: 'two' });
    reject(new AppError('not_found', 'of the former'));
    await expect(late).rejects.toThrow('of the former');
    expect(await once('1', 'again', { by })).toEqual({ value: 'of the next', repeated: true });
    expect(done).toEqual(['one']);
  });

  it('forget after a day, the oldest of too many, and what is too large', async () => {
    await once('1');
    now += keptMs;
    expect(await once('1')).toMatchObject({ repeated: false });
    for (const key of ['2', '3', '4']) await once(key);
    expect(await once('4')).toMatchObject({ repeated: true });
    expect(await once('1')).toMatchObject({ repeated: false });
    await once('5', 'x'.repeat(990));
    expect(await once('1')).toMatchObject({ repeated: true });
    await once('6', 'x'.repeat(990));
    expect(await once('1')).toMatchObject({ repeated: false });
    await once('large', 'x'.repeat(1_000));
    for (const by of [keys, await server()])
      await expect(once('large', 'x', { by })).rejects.toThrow('too large to keep');
    expect(await rows()).toHaveLength(3);
  });
});
