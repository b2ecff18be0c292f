import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  newEvent,
  operations,
  sessionSettings,
  type AgentEvent,
  type Event,
  type NewEvent,
} from '@belay/protocol';
import { Config } from '../config.js';
import { Database } from '../storage/database.js';
import { alwaysOnEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { EventLog } from './event-log.js';
import { SessionsStore } from './sessions.store.js';

const settings = sessionSettings.parse({ task: 'Fix the sum', model: 'scripted:a.yaml' });
const start = (): NewEvent => newEvent('user', 'start', { args: settings, message: 'Fix the sum' });
const call = (
  n: number,
  action = 'terminal.run',
  args: object = { command: 'ls' },
): AgentEvent => ({
  n,
  time: new Date().toISOString(),
  action,
  args: { ...args },
  message: action,
  id: `call-${n}`,
});

alwaysOnEveryDatabase('the event log', (databases) => {
  let logs: TestLogs;
  let log: EventLog;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    log = logs.log;
    await log.create('s', settings, { events: [start()] });
  });
  afterEach(() => logs.close());

  it('numbers events from 1, with the state each brings about, and reads them in pages', async () => {
    await log.append('s', [newEvent('user', 'pause', { args: {}, message: 'Paused' })]);
    const events = await log.read('s', { after: 0 });
    expect(events.map(({ seq, action }) => [seq, action])).toEqual([
      [1, 'start'],
      [2, 'state'],
      [3, 'pause'],
      [4, 'state'],
    ]);
    expect(events[3]?.args).toEqual({ state: 'paused', reason: null });
    expect((await log.read('s', { after: 1, limit: 2 })).map(({ seq }) => seq)).toEqual([2, 3]);
    expect(await log.summary('s')).toMatchObject({ state: 'paused', lastSeq: 4 });
  });

  it('begins many logs at once', async () => {
    const ids = Array.from({ length: 12 }, (_, at) => `at-once-${at}`);
    await Promise.all(ids.map((id) => log.create(id, settings, { events: [start()] })));
    const rows = await logs.database.kysely
      .selectFrom('session')
      .select(['id', 'number'])
      .execute();
    expect(rows.map(({ id }) => id).sort()).toEqual(['s', ...ids].sort());
    expect(new Set(rows.map(({ number }) => number)).size).toBe(rows.length);
  });

  it('keeps the order of concurrent appends, and notifies followers after the commit', async () => {
    const received: Event[] = [];
    let stored: Promise<Event[]> | undefined;
    log.subscribe('s', (events) => {
      received.push(...events);
      stored ??= log.read('s', { after: 0 });
    });
    const appends = Array.from({ length: 300 }, (_, n) =>
      log.append('s', [newEvent('agent', 'plan', { args: { markdown: `${n}` }, message: `${n}` })]),
    );
    await Promise.all(appends);
    expect(received.map(({ message }) => message)).toEqual(appends.map((_, n) => `${n}`));
    expect(received.map(({ seq }) => seq)).toEqual(appends.map((_, n) => n + 3));
    expect((await stored)?.length).toBeGreaterThan(2);
  });

  it('stores an agent’s events once by n, and answers the same numbers again', async () => {
    await log.nextEpoch('s');
    const first = await log.appendFromAgent('s', 1, [call(1), call(2)]);
    expect(await log.appendFromAgent('s', 1, [call(1), call(2), call(3)])).toEqual([...first, 5]);
    expect(await log.storedN('s', 1)).toBe(3);
    expect((await log.read('s', { after: 2 })).map(({ id }) => id)).toEqual([
      'call-1',
      'call-2',
      'call-3',
    ]);
  });

  it('refuses a gap and a stale epoch, and stores nothing of them', async () => {
    await log.nextEpoch('s');
    await expect(log.appendFromAgent('s', 1, [call(2)])).rejects.toMatchObject({
      code: 'conflict',
      message: 'Events are missing after 0.',
    });
    await log.nextEpoch('s');
    await expect(log.appendFromAgent('s', 1, [call(1)])).rejects.toMatchObject({
      code: 'conflict',
      message: 'Another sandbox works on this session now.',
    });
    expect(await log.lastSeq('s')).toBe(2);
    expect(await log.appendFromAgent('s', 2, [call(1)])).toEqual([3]);
  });

  it.each([
    'approve',
    'reject',
    'usage',
    'state',
    'message',
    'start',
    'resume',
    'fork',
    'egress',
    'pushing',
    'publish',
  ])('refuses that an agent writes %s', async (action) => {
    await log.nextEpoch('s');
    const forged = log.appendFromAgent('s', 1, [call(1, action, {})]);
    await expect(forged).rejects.toMatchObject({ code: 'forbidden' });
    expect(await log.lastSeq('s')).toBe(2);
  });

  it('refuses a broken event of an agent and takes a tool that does not exist', async () => {
    await log.nextEpoch('s');
    await expect(log.appendFromAgent('s', 1, [call(1, 'plan', {})])).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(await log.appendFromAgent('s', 1, [call(1, 'files.frobnicate')])).toEqual([3]);
  });

  it('marks the calls that the user made through an agent', async () => {
    await log.nextEpoch('s');
    const { args } = call(1);
    log.userCalls.add('s', 'call-1', { operation: operations['terminal.run'], input: args });
    await log.appendFromAgent('s', 1, [call(1), call(2)]);
    const [mine, its] = await log.read('s', { after: 2 });
    expect([mine?.source, its?.source]).toEqual(['user', 'agent']);
  });

  it('decides on the summary at the turn of the append', async () => {
    const stop = () =>
      log.append('s', ({ state }) =>
        state === 'stopped' ? [] : [newEvent('user', 'stop', { args: {}, message: 'Stopped' })],
      );
    const [one, two] = await Promise.all([stop(), stop()]);
    expect([one?.length, two?.length]).toEqual([1, 0]);
  });

  it('continues where it was after a restart', async () => {
    await log.nextEpoch('s');
    await log.appendFromAgent('s', 1, [call(1)]);
    const before = await log.summary('s');
    ({ log } = await logs.reopen());
    expect(await log.summary('s')).toEqual(before);
    expect(await log.storedN('s', 1)).toBe(1);
    expect(await log.appendFromAgent('s', 1, [call(1), call(2)])).toEqual([3, 4]);
    expect((await log.summaries()).map(({ id }) => id)).toEqual(['s']);
  });

  it('keeps unusual characters, and fails for an unknown session', async () => {
    const markdown = 'NUL \0, half a pair \ud83d, “quotes” and \\u0000';
    await log.append('s', [newEvent('agent', 'plan', { args: { markdown }, message: 'Plan' })]);
    expect((await log.read('s', { after: 2 }))[0]?.args).toEqual({ markdown });
    await expect(log.append('t', [])).rejects.toMatchObject({ code: 'not_found' });
    await expect(log.summary('t')).rejects.toMatchObject({ code: 'not_found' });
  });

  describe('that two servers write', () => {
    let other: EventLog;
    beforeEach(async () => {
      other = new EventLog(new SessionsStore(logs.database), logs.config);
      await other.summary('s');
    });
    const note = (text: string) => [newEvent('user', 'message', { args: { text }, message: text })];
    const refused = { code: 'unavailable', message: expect.stringContaining('another server') };
    const texts = async () =>
      (await log.read('s', { after: 2 })).flatMap(({ action, message }) =>
        action === 'message' ? message : [],
      );

    it('is continued by the one that wrote last, and the other reads it anew first', async () => {
      await log.append('s', note('first'));
      // What it knows is outdated.
      await expect(other.append('s', note('lost'))).rejects.toMatchObject(refused);
      await other.append('s', note('second'));
      await expect(log.append('s', note('lost'))).rejects.toMatchObject(refused);
      const appended = log.append('s', (summary) => note(`after ${summary.lastSeq}`));
      expect((await appended)[0]?.message).toBe('after 4');
      expect(await texts()).toEqual(['first', 'second', 'after 4']);
    });

    it('is owned by the one that starts last, unless there is nothing to do about it', async () => {
      const owned = async (log: EventLog) => (await log.owned()).map(({ id }) => id);
      await logs.session('idle');
      await log.append('s', note('first'));
      await log.release('idle');
      const before = await log.lastSeq('s');
      await other.beforeLead();
      expect(await owned(other)).toEqual(['s']);
      await expect(log.append('s', note('lost'))).rejects.toMatchObject(refused);
      expect([before, before + 1].map((seq) => other.isEarlier('s', seq))).toEqual([true, false]);
      expect(other.term('idle')).toBeUndefined();
      expect(other.isEarlier('idle', 1)).toBe(true);
      await other.append('idle', note('There is something to do.'));
      expect(await owned(other)).toEqual(['s', 'idle']);
    });

    it('is closed to the first server’s agents by a change without events', async () => {
      await log.nextEpoch('s');
      await log.appendFromAgent('s', 1, [call(1)]);
      await other.nextEpoch('s').catch(() => other.nextEpoch('s'));
      const late = () => log.appendFromAgent('s', 1, [call(2)]);
      // Its agent keeps the events and repeats them, until it learns that another one has the session.
      await expect(late()).rejects.toMatchObject(refused);
      await expect(late()).rejects.toMatchObject({ code: 'conflict' });
      expect(await log.lastSeq('s')).toBe(3);
    });

    it('is continued after a commit whose confirmation was lost', async () => {
      const store = new SessionsStore(logs.database);
      const commit = store.transaction.bind(store);
      const lossy = new EventLog(store, logs.config);
      await lossy.append('s', note('first'));
      store.transaction = async (work) => {
        await commit(work);
        throw new Error('Connection terminated unexpectedly');
      };
      await expect(lossy.append('s', note('stored'))).rejects.toThrow('Connection terminated');
      store.transaction = commit;
      await expect(lossy.append('s', note('refused'))).rejects.toMatchObject(refused);
      expect((await lossy.append('s', note('third')))[0]?.seq).toBe(5);
      expect(await texts()).toEqual(['first', 'stored', 'third']);
    });

    it('attacks: has each event that either acknowledged once, without a gap', async () => {
      const acknowledged = new Map<string, number | undefined>();
      const write = async (server: EventLog, name: string) => {
        for (let count = 0; count < 25;) {
          const text = `${name} ${count}`;
          const stored = await server.append('s', note(text)).catch((error: unknown) => {
            expect(error).toMatchObject(refused);
          });
          if (!stored) continue;
          acknowledged.set(text, stored[0]?.seq);
          count += 1;
        }
      };
      await Promise.all([write(log, 'one'), write(other, 'other')]);
      const events = await log.read('s', { after: 0 });
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      const found = events.flatMap(({ action, message, seq }) =>
        action === 'message' ? [[message, seq] as const] : [],
      );
      expect(found).toHaveLength(50);
      expect(new Map(found)).toEqual(acknowledged);
    });
  });

  it('forgets a session', async () => {
    await log.remove('s');
    await expect(log.summary('s')).rejects.toMatchObject({ code: 'not_found' });
    expect(await log.read('s', { after: 0 })).toEqual([]);
  });
});

it('has in its files everything it acknowledged when the process is killed', async () => {
  const logs = await new TestLogs().open();
  const { log } = logs;
  await logs.session('s');
  await log.nextEpoch('s');
  const seqs = await log.appendFromAgent('s', 1, [call(1), call(2)]);
  // The files as they are, nothing closed and nothing flushed: what a killed process leaves.
  const left = await mkdtemp(join(tmpdir(), 'belay-killed-'));
  await cp(logs.config.data, left, { recursive: true, filter: (path) => !path.endsWith('-shm') });
  const config = new Config({ BELAY_DATA: left });
  const survivor = new Database(config);
  await survivor.migrated();
  const found = new EventLog(new SessionsStore(survivor), config);
  expect(await found.read('s', { after: 0 })).toEqual(await log.read('s', { after: 0 }));
  expect(await found.appendFromAgent('s', 1, [call(1), call(2)])).toEqual(seqs);
  await survivor.onApplicationShutdown();
  await rm(left, { recursive: true, force: true });
  await logs.close();
});
