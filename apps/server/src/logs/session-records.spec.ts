import { newEvent } from '@belay/protocol';
import { TestLogs } from '../testing/logs.js';
import { SessionRecords } from './session-records.js';

it('reads the sessions of other servers again only when they have changed', async () => {
  const logs = await new TestLogs().open();
  await logs.session('a');
  await logs.session('b');
  const records = new SessionRecords(logs.store, true);
  const all = async () => new Map((await records.all()).map((record) => [record.id, record]));
  const before = await all();
  expect([...before.keys()].toSorted()).toEqual(['a', 'b']);
  const paused = { state: 'paused', reason: null } as const;
  await logs.log.append('a', [newEvent('server', 'state', { args: paused, message: 'Paused.' })]);
  const after = await all();
  expect(after.get('a')?.summary.state).toBe('paused');
  expect(after.get('b')).toBe(before.get('b'));
  const owner = 'another server';
  await logs.database.kysely.updateTable('session').set({ owner }).where('id', '=', 'b').execute();
  expect((await all()).get('b')).toMatchObject({ owner });
  await logs.store.transaction((connection) => logs.store.remove(connection, 'b'));
  expect([...(await all()).keys()]).toEqual(['a']);
  await logs.close();
});
