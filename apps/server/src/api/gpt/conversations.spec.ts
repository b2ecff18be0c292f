import { TestLogs } from '../../testing/logs.js';
import type { Caller } from '../../access/caller.js';
import { Conversations } from './conversations.js';

const most = 10_000;
const caller = (id: string): Caller => ({ id }) as Caller;
const [busy, quiet] = [caller('token:busy'), caller('token:quiet')];

describe('the conversations of GPTs', () => {
  let logs: TestLogs;
  let conversations: Conversations;
  /** As after a start of the server. */
  const open = async () => {
    conversations = new Conversations(logs.database);
    await conversations.onLead();
  };
  const isKnown = (who: Caller, name: string) => conversations.session(who, name) !== undefined;
  const stored = async () => {
    const { kysely } = logs.database;
    const rows = await kysely.selectFrom('gpt_conversation').select('conversation').execute();
    return rows.map(({ conversation }) => conversation);
  };
  beforeEach(async () => {
    logs = await new TestLogs().open();
    await logs.session('one');
  });
  afterEach(() => logs.close());

  /** What a caller has bound so far, the first longest ago. */
  const fill = async (who: Caller, count: number) => {
    const rows = Array.from({ length: count }, (_, at) => ({
      caller: who.id,
      conversation: `c${at}`,
      session: 'one',
      bound: new Date(at * 1_000).toISOString(),
    }));
    for (let at = 0; at < rows.length; at += 1_000)
      await logs.database.kysely
        .insertInto('gpt_conversation')
        .values(rows.slice(at, at + 1_000))
        .execute();
    await open();
  };

  it(`are ${most}: for one more, whoever has the most loses what was used longest ago`, async () => {
    await fill(busy, most - 1);
    await conversations.bind(quiet, 'own', 'one');
    expect(isKnown(busy, 'c0')).toBe(true);
    // Now `c1` is the one that was used longest ago.
    await conversations.bind(quiet, 'second', 'one');
    expect([isKnown(busy, 'c0'), isKnown(busy, 'c1'), isKnown(busy, 'c2')]).toEqual([
      true,
      false,
      true,
    ]);
    expect([isKnown(quiet, 'own'), isKnown(quiet, 'second')]).toEqual([true, true]);
    expect(await stored()).toHaveLength(most);
    expect(await stored()).not.toContain('c1');

    // One that is bound again takes no place.
    await conversations.bind(quiet, 'own', 'one');
    expect(await stored()).toHaveLength(most);
    await open();
    expect([isKnown(quiet, 'own'), isKnown(busy, 'c1'), isKnown(busy, 'c3')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('are forgotten with their session', async () => {
    await fill(busy, 1);
    expect(isKnown(busy, 'c0')).toBe(true);
    await logs.database.kysely.deleteFrom('session').execute();
    await open();
    expect(isKnown(busy, 'c0')).toBe(false);
    expect(await stored()).toEqual([]);
  });
});
