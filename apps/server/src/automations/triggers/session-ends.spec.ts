import { newEvent, type AutomationDefinitionInput } from '@belay/protocol';
import { onEveryDatabase } from '../../testing/databases.js';
import { SessionEndTrigger } from './session-ends.js';
import { TriggerScene } from './testing/trigger-scene.js';

onEveryDatabase('ends of sessions', (databases) => {
  let scene: TriggerScene;
  let trigger: SessionEndTrigger;
  beforeEach(async () => {
    scene = await new TriggerScene(databases).open();
    const { log, database } = scene.logs;
    trigger = new SessionEndTrigger(log, database, scene.automations, scene.deliveries);
    trigger.onApplicationBootstrap();
  });
  afterEach(async () => {
    await trigger.drained();
    await scene.close();
  });

  const after = (session: object, name = 'then') =>
    scene.automation({ session } as AutomationDefinitionInput['on'], { name });
  const end = async (session: string, state: 'finished' | 'failed' | 'stopped') => {
    const args = { state, reason: null };
    await scene.logs.log.append(session, [newEvent('server', 'state', { args, message: state })]);
    await scene.logs.log.drained();
    await trigger.drained();
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
});
