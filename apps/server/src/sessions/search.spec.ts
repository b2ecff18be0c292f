import { newEvent } from '@belay/protocol';
import { ownerCaller } from '../access/caller.js';
import { alwaysOnEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { Search } from './search.js';

alwaysOnEveryDatabase('the search over all logs', (databases) => {
  let logs: TestLogs;
  let search: Search;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    search = new Search(logs.database, logs.store);
    await logs.session('a', { task: 'Fix the parser' });
    await logs.session('b', { task: 'Paint the parser blue' });
  });
  afterEach(() => logs.close());

  const says = (session: string, text: string) =>
    logs.log.append(session, [
      newEvent('user', 'message', { args: { text }, message: 'A message' }),
    ]);
  const found = async (query: string, limit?: number) =>
    (await search.find(query, ownerCaller, limit)).map(({ session, seq }) => `${session}${seq}`);

  it('finds events with all the words, the last one begun, the newest first', async () => {
    expect(await found('parser')).toEqual(['b1', 'a1']);
    expect(await found('PARSER blue')).toEqual(['b1']);
    expect(await found('the par')).toEqual(['b1', 'a1']);
    expect(await found('par the')).toEqual([]);
    expect(await found('parser', 1)).toEqual(['b1']);
  });

  it('continues where its index ended', async () => {
    expect(await found('hammer')).toEqual([]);
    await says('a', 'Take the hammer');
    expect(await found('hammer')).toEqual(['a4']);
    await says('b', 'Which hammer?');
    expect(await found('hammer')).toEqual(['b4', 'a4']);
  });

  it('shows where it stands, and takes no sign of a query for an order', async () => {
    await says(
      'a',
      `${'before '.repeat(50)} the needle \0 it's "here" & there ${'after '.repeat(50)}`,
    );
    const [needle] = await search.find('needle', ownerCaller);
    expect(needle?.excerpt).toContain('needle');
    expect(needle?.excerpt.length).toBeLessThan(300);
    for (const query of ['"needle', 'needle & ', 'needle:*', '!needle']) {
      expect(await found(query)).toEqual(['a4']);
    }
    for (const query of [`needle' or 1=1`, ':* | !', '']) expect(await found(query)).toEqual([]);
    expect(await found('größe')).toEqual([]);
    await says('b', 'Die Größe, 大きさ');
    expect(await found('größe')).toEqual(['b4']);
  });

  it('forgets a session that is deleted', async () => {
    await says('a', 'Take the hammer');
    expect(await found('hammer')).toEqual(['a4']);
    await logs.log.remove('a');
    expect(await found('hammer')).toEqual([]);
  });
});
