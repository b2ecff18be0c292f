import { sql } from 'kysely';
import { TestLogs } from '../testing/logs.js';

it('finds the events of a call without reading the session', async () => {
  const logs = await new TestLogs().open();
  const { rows } = await sql<{ detail: string }>`explain query plan
    select seq from event where session = 's' and call = 'c' order by seq`.execute(
    logs.database.kysely,
  );
  expect(rows.map(({ detail }) => detail)).toEqual([expect.stringContaining('event_call')]);
  await logs.close();
});
