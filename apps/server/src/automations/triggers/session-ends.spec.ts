import { newEvent, sessionSettings, type AutomationDefinitionInput } from '@belay/protocol';
import { until } from '@belay/testing';
import { EventLog } from '../../logs/event-log.js';
import { onEveryDatabase } from '../../testing/databases.js';
import { PastSessionEnds } from './past-session-ends.js';
import { SessionEndTrigger } from './session-ends.js';
import { TriggerScene } from './testing/trigger-scene.js';

onEveryDatabase('ends of sessions', (databases) => {
  let scene: TriggerScene;
  let trigger: SessionEndTrigger;
  beforeEach(async () => {
    scene = await new TriggerScene(databases).open();
    start();
  });
  afterEach(async () => {
    await trigger.drained();
    await scene.close();
  });

  const start = () => {
    const { log, store, database } = scene.logs;
    const past = new PastSessionEnds(log, store, database, scene.clock);
    trigger = new SessionEndTrigger(
      log,
      database,
      scene.automations,
      scene.deliveries,
      past,
      scene.clock,
    );
    trigger.onLead();
  };
  /** From now on nothing is seen, as by a server that is being killed. */
  const kill = () => trigger.onApplicationShutdown();
  const startAgain = async () => {
    await kill();
    await scene.restart();
    start();
    await trigger.drained();
  };
  const after = (session: object, name = 'then') =>
    scene.automation({ session } as AutomationDefinitionInput['on'], { name });
  const end = async (session: string, state: 'finished' | 'failed' | 'stopped') => {
    const args = { state, reason: null };
    await scene.logs.log.append(session, [newEvent('server', 'state', { args, message: state })]);
    await scene.logs.log.drained();
    await trigger.drained();
  };
  /** Waits until times differ from those before. */
  const passes = async () => {
    const before = Date.now();
    await until('the time has passed', () => Date.now() > before);
  };
  /** A session that a run of the automation began. */
  const begun = async (session: string, automation: string, because: object = {}) => {
    await scene.logs.session(session);
    const now = scene.clock.now().toISOString();
    const occurrence = { event: 'hand', key: `by-hand:${session}`, at: now, actor: null };
    await scene.logs.database.kysely
      .insertInto('automation_run')
      .values({
        id: `run-of-${session}`,
        automation,
        version: 1,
        event: 'hand',
        session,
        event_key: session,
        lane: '',
        subject: 'hand',
        findings: '{}',
        decisions: '[]',
        occurrence: JSON.stringify({ ...occurrence, ...because }),
        state: 'working',
        due: now,
        created: now,
      })
      .execute();
  };

  it('begins a run when a session ends as it was named', async () => {
    const { id } = await after({ state: ['failed'] });
    await scene.logs.session('s1');
    await end('s1', 'finished');
    expect(await scene.stored()).toEqual([]);
    await end('s1', 'failed');
    expect(await scene.stored()).toMatchObject([{ state: 'done' }]);
    expect(scene.taken).toMatchObject([
      { source: id, occurrence: { event: 'session.ended', session: 's1' } },
    ]);
    // It was resumed, and failed again: another end.
    await end('s1', 'failed');
    expect(scene.taken).toHaveLength(2);
    await end('s1', 'stopped');
    expect(scene.taken).toHaveLength(2);
  });

  it('begins a run when a session of another server ends, once', async () => {
    await after({ state: ['failed'] });
    await passes();
    const { log, store, config } = scene.logs;
    const elsewhere = new EventLog(store, config);
    const settings = sessionSettings.parse({ task: 'Fix', model: 'scripted:x' });
    const args = { state: 'failed', reason: null } as const;
    const failed = () => newEvent('server', 'state', { args, message: 'failed' });
    await elsewhere.create('s1', settings, { events: [failed()] });
    const told = async () => {
      log.elsewhere.changed('s1', await elsewhere.summary('s1'));
      await trigger.drained();
    };
    await told();
    await told();
    expect(scene.taken).toMatchObject([{ occurrence: { session: 's1' } }]);
    await elsewhere.append('s1', [failed()]);
    await told();
    expect(scene.taken).toHaveLength(2);
  });

  it('follows the sessions of one automation, or of one tag', async () => {
    const { id } = await scene.automation({ hand: true }, { name: 'first' });
    await after({ state: ['finished'], automation: 'first' });
    await begun('of-first', id);
    await scene.logs.session('of-a-user');
    await end('of-a-user', 'finished');
    expect(scene.taken).toEqual([]);
    await end('of-first', 'finished');
    expect(scene.taken).toHaveLength(1);
    await after({ state: ['finished'], tag: 'night' }, 'tagged');
    await scene.logs.session('tagged', { tags: ['night'] });
    await end('tagged', 'finished');
    expect(scene.taken).toMatchObject([{}, { occurrence: { session: 'tagged' } }]);
  });

  it('does not follow itself', async () => {
    const { id } = await after({ state: ['finished'] });
    await begun('own', id);
    await end('own', 'finished');
    expect(await scene.stored()).toMatchObject([
      { state: 'ignored', why: 'The automation began this session itself.' },
    ]);
    await begun('other', 'another-automation');
    await end('other', 'finished');
    expect(scene.taken).toMatchObject([{ occurrence: { session: 'other' } }]);
  });

  it('bounds chains of sessions', async () => {
    await after({ state: ['finished'] });
    await begun('s1', 'a');
    await begun('s2', 'b', { event: 'session.ended', session: 's1' });
    await begun('s3', 'a', { event: 'session.ended', session: 's2' });
    await begun('s4', 'b', { event: 'session.ended', session: 's3' });
    await end('s3', 'finished');
    expect(await scene.stored()).toMatchObject([{ state: 'done' }]);
    await end('s4', 'finished');
    const [, refused] = await scene.stored();
    expect(refused).toMatchObject({
      state: 'refused',
      why: expect.stringContaining('3 times at most') as string,
    });
  });

  it('begins once after a kill between the end and its row', async () => {
    const { id } = await after({ state: ['finished'] });
    await scene.logs.session('s1');
    await scene.logs.session('s2');
    await end('s1', 'finished');
    expect(scene.taken).toHaveLength(1);
    await kill();
    await end('s2', 'finished');
    await end('s2', 'stopped');
    expect(scene.taken).toHaveLength(1);
    await startAgain();
    expect(scene.taken.slice(1)).toMatchObject([
      { source: id, occurrence: { event: 'session.ended', session: 's2' } },
    ]);
    const stored = await scene.stored();
    expect(stored).toMatchObject([{ state: 'done' }, { state: 'done' }]);
    await startAgain();
    expect(scene.taken).toHaveLength(2);
    expect(await scene.stored()).toEqual(stored);
    await end('s1', 'finished');
    expect(scene.taken).toHaveLength(3);
  });

  it('takes up what was stored and not begun', async () => {
    await after({ state: ['finished'] });
    await scene.logs.session('s1');
    scene.failure = new Error('killed');
    await end('s1', 'finished');
    expect(await scene.stored()).toMatchObject([{ state: 'received' }]);
    scene.failure = undefined;
    await startAgain();
    expect(await scene.stored()).toMatchObject([{ state: 'done' }]);
    expect(scene.taken).toHaveLength(1);
  });

  it('begins nothing for ends of before it was made, changed, switched on or fitting', async () => {
    const first = await after({ state: ['failed'] }, 'changed');
    const paused = await after({ state: ['finished'] }, 'paused');
    await scene.automations.setState(paused.id, 'paused', null);
    await after({ state: ['finished'], tag: 'night' }, 'tagged');
    await kill();
    await scene.logs.session('s1');
    await end('s1', 'finished');
    await passes();
    await after({ state: ['finished'] }, 'changed');
    await after({ state: ['finished'] }, 'new');
    await scene.automations.setState(paused.id, 'on', null);
    await startAgain();
    const args = { tags: ['night'] };
    await scene.logs.log.append('s1', [newEvent('user', 'change', { args, message: '' })]);
    await startAgain();
    expect(await scene.stored()).toEqual([]);
    await kill();
    await end('s1', 'finished');
    await startAgain();
    expect(await scene.stored()).toHaveLength(4);
    expect(scene.taken.map(({ source }) => source)).toContain(first.id);
  });

  it('makes up for the last week', async () => {
    await after({ state: ['finished'] });
    await kill();
    await scene.logs.session('s1');
    await end('s1', 'finished');
    const ahead = Date.now() - scene.clock.now().getTime();
    scene.clock.jump(ahead + 8 * 86_400_000);
    await startAgain();
    expect(await scene.stored()).toEqual([]);
    scene.clock.jump(-2 * 86_400_000);
    await startAgain();
    expect(await scene.stored()).toMatchObject([{ state: 'done' }]);
  });

  it('tries again what could not be stored', async () => {
    await after({ state: ['finished'] });
    await scene.logs.session('s1');
    const receive = jest.spyOn(scene.deliveries, 'receive');
    receive.mockRejectedValueOnce(new Error('The disk is full.'));
    await end('s1', 'finished');
    expect(await scene.stored()).toEqual([]);
    await scene.clock.forward(60_000, () => trigger.drained());
    expect(await scene.stored()).toMatchObject([{ state: 'done' }]);
  });

  it('does not take the ends of a session for those of its fork', async () => {
    await after({ state: ['finished'] });
    await scene.logs.session('s1');
    await end('s1', 'finished');
    await passes();
    const { log } = scene.logs;
    const events = await log.read('s1', { after: 0 });
    const settings = await log.settings('s1');
    await log.create('fork', settings, { copied: { from: 's1', events }, events: [] });
    await trigger.drained();
    await startAgain();
    expect(scene.taken).toHaveLength(1);
    await end('fork', 'finished');
    expect(scene.taken).toMatchObject([{}, { occurrence: { session: 'fork' } }]);
  });
});
