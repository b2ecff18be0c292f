import { chainDigest, chainFields, chainStart, contentDigest } from '@belay/proof';
import { newEvent, sessionSettings, type AgentEvent, type NewEvent } from '@belay/protocol';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { storedRows } from './chained-rows.js';
import { EventLog } from './event-log.js';
import { LogHeads } from './log-heads.js';
import { SessionsStore } from './sessions.store.js';

const settings = sessionSettings.parse({ task: 'Fix “ä\0”', model: 'scripted:a.yaml' });
const pause = (): NewEvent => newEvent('user', 'pause', { args: {}, message: 'Paused' });
const said = (n: number): AgentEvent => ({
  n,
  time: new Date().toISOString(),
  action: 'say',
  args: { text: `Text ${n}: \ud83d\ude00 \ud800 \0`, calls: [] },
  message: `Text ${n} \ud800 \0`,
});

onEveryDatabase('the chain of a stored log', (databases) => {
  let logs: TestLogs;
  let heads: LogHeads;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    heads = new LogHeads(logs.log, logs.store);
    await logs.log.create('s', settings, { events: [newEvent('user', 'start', start)] });
  });
  afterEach(() => logs.close());

  const start = { args: settings, message: settings.task };
  /** As a log of an earlier version: nothing is chained. */
  const unchain = async () => {
    await logs.log.drained();
    await logs.database.kysely.updateTable('event').set({ digest: null }).execute();
    const unknown = { head: null, chained_from: null };
    await logs.database.kysely.updateTable('session').set(unknown).execute();
    await logs.reopen();
    heads = new LogHeads(logs.log, logs.store);
  };
  /** Follows the stored bytes; returns the head that they have. */
  const followed = async (session: string, created: string): Promise<string> => {
    let digest = chainStart(session, created);
    for (let after = 0; ;) {
      const rows = await storedRows(logs.database.kysely, session, { after, limit: 700 });
      if (rows.length === 0) return digest;
      for (const row of rows) {
        digest = chainDigest(digest, contentDigest(chainFields.map((field) => row[field])));
        expect([row.seq, row.digest]).toEqual([row.seq, digest]);
        after = row.seq;
      }
    }
  };

  it('covers the bytes of every event as the database returns them', async () => {
    await logs.log.nextEpoch('s');
    await Promise.all([
      logs.log.appendFromAgent('s', 1, [said(1), said(2)]),
      logs.log.append('s', [pause()]),
      logs.log.append('s', () => [pause()]),
    ]);
    const head = await heads.head('s');
    expect(head).toMatchObject({ session: 's', chainedFrom: 1, seq: await logs.log.lastSeq('s') });
    expect(await followed('s', head.created)).toBe(head.head);
  });

  it('begins anew in a fork', async () => {
    const events = await logs.log.read('s', { after: 0 });
    const copied = { from: 's', events };
    await logs.log.create('fork', settings, { copied, events: [pause()] });
    const { head, created, seq } = await heads.head('fork');
    expect(seq).toBeGreaterThan(events.length);
    expect(await followed('fork', created)).toBe(head);
    const [first] = await storedRows(logs.database.kysely, 'fork', { after: 0, limit: 1 });
    const [origin] = await storedRows(logs.database.kysely, 's', { after: 0, limit: 1 });
    expect(first?.digest).not.toBe(origin?.digest);
  });

  it('goes on when another server writes, and ignores the one that knows less', async () => {
    const other = new EventLog(new SessionsStore(logs.database), logs.config);
    await logs.log.append('s', [pause()]);
    await other.append('s', [pause()]);
    await expect(logs.log.append('s', [pause()])).rejects.toMatchObject({ code: 'unavailable' });
    await logs.log.append('s', [pause()]);
    const { head, created } = await heads.head('s');
    expect(await followed('s', created)).toBe(head);
  });

  it('is made later for the log of an earlier version, in parts, while others append', async () => {
    const many = Array.from({ length: 2_300 }, () => pause());
    await logs.log.append('s', many);
    await unchain();
    const before = await logs.log.lastSeq('s');
    const making = heads.head('s');
    let isMade = false;
    void making.then(() => (isMade = true));
    while (!isMade) await logs.log.append('s', [pause()]);
    const { chainedFrom } = await making;
    expect(chainedFrom).toBeGreaterThan(before);
    const last = await heads.head('s');
    expect(last.chainedFrom).toBe(chainedFrom);
    expect(await followed('s', last.created)).toBe(last.head);
  });

  it('is made at the start of a server, and left for the next one when that ends', async () => {
    await logs.log.create('t', settings, { events: [pause()] });
    await unchain();
    heads.onLead();
    await heads.onModuleDestroy();
    heads = new LogHeads(logs.log, logs.store);
    heads.onLead();
    while ((await logs.store.unchained()).length > 0) await new Promise(setImmediate);
    for (const session of ['s', 't']) {
      const record = await logs.store.find(session);
      expect(await followed(session, record?.created ?? '')).toBe(record?.head);
      expect(record?.chainedFrom).toBe((record?.lastSeq ?? 0) + 1);
    }
    await expect(heads.head('none')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('has no end for a log whose last events were removed, but stops', async () => {
    await logs.log.append('s', [pause()]);
    const seq = await logs.log.lastSeq('s');
    await unchain();
    await logs.database.kysely.deleteFrom('event').where('seq', '=', seq).execute();
    expect(await heads.head('s')).toMatchObject({ seq, chainedFrom: seq + 1 });
  });

  it('is noted where the log is published and where its session ends', async () => {
    const push = { url: 'https://git.example.com/a/b', branch: 'x', base: 'main', commit: 'c' };
    const published = { args: { ...push, pullRequest: null }, message: 'Pushed' };
    const [publish] = await logs.log.append('s', [newEvent('user', 'publish', published)]);
    await logs.log.append('s', [newEvent('user', 'stop', { args: {}, message: 'Stopped' })]);
    const { seq, head } = await heads.head('s');
    const noted = await logs.database.kysely.selectFrom('log_head').selectAll().execute();
    expect(noted).toMatchObject([
      { session: 's', seq: publish?.seq, why: 'publish' },
      { session: 's', seq, head, why: 'end' },
    ]);
    await logs.log.remove('s');
    expect(await logs.database.kysely.selectFrom('log_head').selectAll().execute()).toEqual(noted);
  });
});
