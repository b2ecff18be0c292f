import { newEvent, type AgentEvent } from '@belay/protocol';
import { sql } from 'kysely';
import { itLong } from '@belay/testing';
import { ownerCaller } from '../access/caller.js';
import { Search } from '../sessions/search.js';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';

const agentEvent = (n: number, action: string, args: object, more = {}): AgentEvent => ({
  n,
  time: new Date().toISOString(),
  action,
  args: { ...args },
  message: action,
  id: `call-${n}`,
  ...more,
});
const deep = (levels: number): string => `${'['.repeat(levels)}1${']'.repeat(levels)}`;

onEveryDatabase('attacks: what is stored of one session', (databases) => {
  let logs: TestLogs;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    await logs.session('good');
    await logs.session('bad');
  });
  afterEach(() => logs.close());

  const damage = async (change: string, value: string) => {
    await sql`update session set ${sql.raw(change)} = ${value} where id = 'bad'`.execute(
      logs.database.kysely,
    );
    await logs.reopen();
  };
  const store = async (action: string, args: string) => {
    await sql`insert into event (session, seq, time, source, action, args, message)
      values ('bad', 9, '2026-01-01T00:00:00Z', 'agent', ${action}, ${args}, 'm')`.execute(
      logs.database.kysely,
    );
    await sql`update session set last_seq = 9 where id = 'bad'`.execute(logs.database.kysely);
    await logs.reopen();
  };
  const goodWorks = async () => {
    await logs.log.append('good', [newEvent('user', 'pause', { args: {}, message: 'Paused' })]);
    expect(await logs.log.summary('good')).toMatchObject({ state: 'paused' });
    expect((await logs.log.read('good', { after: 0 })).at(-1)).toMatchObject({ action: 'state' });
    const found = await new Search(logs.database, logs.store).find('Fix', ownerCaller);
    expect(found.map(({ session }) => session)).toContain('good');
  };

  it.each([
    ['summary', '{broken', 'it is not JSON'],
    ['summary', '{}', 'id: Invalid input'],
    ['summary', deep(50_000), 'expected object'],
    ['settings', '', 'it is not JSON'],
    ['settings', '{"task":"x"}', 'model: Invalid input'],
  ])('a damaged %s, case %#, leaves the others', async (column, value, fault) => {
    await damage(column, value);
    const listed = await logs.log.summaries();
    expect(listed.map(({ id, state }) => [id, state])).toEqual(
      expect.arrayContaining([
        ['good', 'running'],
        ['bad', 'failed'],
      ]),
    );
    const { reason } = await logs.log.summary('bad');
    expect(reason).toMatch(/^The stored data of the session bad cannot be read \(.*\)\. Delete/);
    expect(reason).toContain(fault);
    const stop = newEvent('user', 'stop', { args: {}, message: 'Stopped' });
    // Both in one transaction: only one is refused.
    const [bad] = await Promise.allSettled([logs.log.append('bad', [stop]), goodWorks()]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { message: reason } });
    await logs.log.remove('bad');
    expect((await logs.log.summaries()).map(({ id }) => id)).toEqual(['good']);
  });

  it.each([
    ['result', '{"ok"', 'it is not JSON'],
    ['result', '{}', 'operation: Invalid input'],
    ['result', '[]', 'it has no fields'],
    ['commit', '{"commit":7,"parent":null,"files":[]}', 'commit: Invalid input'],
    ['ask', `{"question":${deep(20_000)}}`, 'it is nested deeper than 64 levels'],
  ])('an event %s, case %#, is one that says so', async (action, args, fault) => {
    await store(action, args);
    const [event] = await logs.log.read('bad', { after: 8 });
    expect(event).toMatchObject({
      seq: 9,
      source: 'server',
      action: 'unreadable',
    });
    expect(event?.message).toContain(`The event ${action} cannot be read: ${fault}`);
    expect(JSON.stringify(await logs.log.read('bad', { after: 0 }))).toContain('cannot be read');
    await goodWorks();
  });

  it('reads an event of an action that it does not know, and one that is longer than today’s', async () => {
    await store('someday', '{"a":1}');
    expect(await logs.log.read('bad', { after: 8 })).toMatchObject([
      { action: 'someday', args: { a: 1 } },
    ]);
    const markdown = 'x'.repeat(200_000);
    await sql`update event set action = 'plan', args = ${JSON.stringify({ markdown })}
      where session = 'bad' and seq = 9`.execute(logs.database.kysely);
    expect(await logs.log.read('bad', { after: 8 })).toMatchObject([{ args: { markdown } }]);
  });

  itLong('a question of 24 MB that an older version stored is an excerpt in the list', async () => {
    const summary = await logs.log.summary('bad');
    const question = 'why? '.repeat(5_000_000);
    await damage('summary', JSON.stringify({ ...summary, question, reason: question }));
    const listed = await logs.log.summaries();
    expect(JSON.stringify(listed).length).toBeLessThan(10_000);
    expect(listed.find(({ id }) => id === 'bad')?.question).toMatch(/^why\? .*…$/);
    await goodWorks();
  });

  it('nothing that an agent sends reaches a list in more than an excerpt', async () => {
    await logs.log.nextEpoch('bad');
    const question = 'q'.repeat(900_000);
    await logs.log.appendFromAgent('bad', 1, [
      agentEvent(1, 'ask', { question, options: [question.slice(0, 10_000)] }),
      agentEvent(2, 'result', {
        operation: 'finish',
        ok: true,
        output: { summary: question, outcome: 'success' },
        seconds: 0,
      }),
    ]);
    const listed = JSON.stringify(await logs.log.summaries());
    expect(listed.length).toBeLessThan(20_000);
    expect(await logs.log.read('bad', { after: 3, limit: 1 })).toMatchObject([
      { args: { question } },
    ]);
  });

  it.each([
    ['a question of 24 MB', { question: 'q'.repeat(24_000_000) }],
    ['deep JSON', { question: 'q', more: JSON.parse(deep(3_000)) as unknown }],
    ['a million values', { question: 'q', more: Array.from({ length: 1_000_000 }, () => 1) }],
  ])(
    '%s is refused in its own call, and the honest events beside it are stored',
    async (_, args) => {
      await logs.log.nextEpoch('bad');
      await logs.log.nextEpoch('good');
      const [refused, taken] = await Promise.allSettled([
        logs.log.appendFromAgent('bad', 1, [agentEvent(1, 'ask', args)]),
        logs.log.appendFromAgent('good', 1, [agentEvent(1, 'ask', { question: 'Which?' })]),
      ]);
      expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'too_large' } });
      expect(taken.status).toBe('fulfilled');
      expect(
        await logs.log.appendFromAgent('bad', 1, [agentEvent(1, 'ask', { question: 'Which?' })]),
      ).toHaveLength(1);
      expect(await logs.log.summary('bad')).toMatchObject({ question: 'Which?' });
    },
  );

  it('an event that cannot be written fails alone, not the batch of all sessions', async () => {
    // What a server’s own event takes from an agent unchecked.
    const input = JSON.parse(deep(50_000)) as unknown;
    const asked = newEvent('server', 'approval', {
      args: {
        id: 'a',
        operation: 'x',
        input: {},
        risk: 'read',
        subject: '',
        mode: 'ask',
        until: null,
      },
      message: 'May x run?',
    });
    const broken = { ...asked, args: { ...asked.args, input } };
    const [bad, good] = await Promise.allSettled([
      logs.log.append('bad', [broken]),
      logs.log.append('good', [newEvent('user', 'pause', { args: {}, message: 'Paused' })]),
    ]);
    expect([bad.status, good.status]).toEqual(['rejected', 'fulfilled']);
  });

  it('what the database itself refuses of one session fails alone', async () => {
    await sql`insert into event (session, seq, time, source, action, args, message)
      values ('bad', 4, '', 'agent', 'x', '{}', '')`.execute(logs.database.kysely);
    const pause = newEvent('user', 'pause', { args: {}, message: 'Paused' });
    const [bad, good] = await Promise.allSettled([
      logs.log.append('bad', [pause]),
      logs.log.append('good', [pause]),
    ]);
    expect([bad.status, good.status]).toEqual(['rejected', 'fulfilled']);
    expect(await logs.log.summary('good')).toMatchObject({ state: 'paused' });
  });

  it('an event of the year 9999 does not stop the activity of a session', async () => {
    await logs.log.nextEpoch('bad');
    const time = '9999-01-01T00:00:00Z';
    await logs.log.appendFromAgent('bad', 1, [agentEvent(1, 'think', { thought: 'x' }, { time })]);
    expect(Date.parse((await logs.log.summary('bad')).updated)).toBeLessThan(Date.now() + 1_000);
  });
});
