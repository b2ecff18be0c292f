import { AppError, type Occurrence } from '@belay/protocol';
import { alwaysOnEveryDatabase } from '../../testing/databases.js';
import type { NewDelivery } from './delivery-rows.js';
import { eventKey, timedKey } from './event-keys.js';
import { TriggerScene } from './testing/trigger-scene.js';

const opened = (number: number): Occurrence => ({
  event: 'issue.opened',
  key: eventKey('issue', number, 'opened'),
  at: '2026-03-01T12:00:00.000Z',
  actor: { id: '5', name: 'ada', isBot: false },
  number,
});

alwaysOnEveryDatabase('deliveries', (databases) => {
  let scene: TriggerScene;
  let source: string;
  beforeEach(async () => {
    scene = await new TriggerScene(databases).open();
    source = await scene.source();
  });
  afterEach(() => scene.close());

  const hook = (delivery: string, more: Partial<NewDelivery> = {}): NewDelivery => ({
    source,
    transport: 'webhook',
    delivery,
    event: 'issues',
    occurrence: opened(1),
    ...more,
  });
  const states = async () => (await scene.stored()).map(({ state }) => state);

  it('makes runs of what comes, once for each delivery id', async () => {
    const first = await scene.deliveries.receive(hook('a'));
    expect(first.state).toBe('received');
    expect(await scene.deliveries.receive(hook('a'))).toEqual({ id: first.id, state: 'duplicate' });
    expect(await states()).toEqual(['done']);
    expect(scene.taken).toEqual([{ id: first.id, source, occurrence: opened(1) }]);
    // The control: another thing is another run.
    await scene.deliveries.receive(hook('b', { occurrence: opened(2) }));
    expect(await states()).toEqual(['done', 'done']);
    expect(scene.taken).toHaveLength(2);
  });

  it('takes one thing once, by webhook and by polling', async () => {
    await scene.deliveries.receive(hook('a'));
    const polled = await scene.deliveries.receive(hook('issue 1', { transport: 'poll' }));
    expect(polled.state).toBe('duplicate');
    expect(await scene.stored()).toMatchObject([
      { state: 'done' },
      { state: 'duplicate', why: 'It was learned of already, by webhook.' },
    ]);
    expect(scene.taken).toHaveLength(1);
    // Another repository has an issue of this number, too.
    const other = await scene.source({ repository: 'acme/web' });
    await scene.deliveries.receive(hook('a', { source: other }));
    expect(scene.taken).toHaveLength(2);
  });

  it('takes many at once of one thing as one', async () => {
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, at) => scene.deliveries.receive(hook(`${at % 6}`))),
    );
    expect(all.filter(({ state }) => state === 'received')).toHaveLength(1);
    await scene.deliveries.drained();
    expect(scene.taken).toHaveLength(1);
  });

  it('compares what can happen again by its time, between ways of learning of it alone', async () => {
    const set = (at: string, more: Partial<NewDelivery>): NewDelivery =>
      hook(at, {
        occurrence: { ...opened(1), event: 'issue.labelled', key: timedKey(at, 'label', 1, 'bug') },
        ...more,
      });
    const receive = async (at: string, transport: NewDelivery['transport']) =>
      (await scene.deliveries.receive(set(at, { transport }))).state;
    expect(await receive('2026-03-01T12:00:00Z', 'webhook')).toBe('received');
    expect(await receive('2026-03-01T12:01:00Z', 'webhook')).toBe('received');
    expect(await receive('2026-03-01T12:02:59Z', 'poll')).toBe('duplicate');
    expect(await receive('2026-03-01T12:03:02Z', 'poll')).toBe('received');
  });

  it('says of everything why it began nothing', async () => {
    scene.wants = () => false;
    await scene.deliveries.receive(hook('a'));
    await scene.deliveries.receive(
      hook('b', { occurrence: undefined, ignored: 'Only new comments count.' }),
    );
    await scene.deliveries.receive(
      hook('c', { occurrence: undefined, refused: 'It is not JSON.' }),
    );
    expect(await scene.stored()).toMatchObject([
      {
        state: 'ignored',
        why: 'No automation that is on begins with issue.opened of this repository.',
      },
      { state: 'ignored', why: 'Only new comments count.' },
      { state: 'refused', why: 'It is not JSON.' },
    ]);
  });

  it('takes up at its start what a killed server had stored, without doing it twice', async () => {
    scene.failure = new AppError('unavailable', 'The server is killed here.');
    await scene.deliveries.receive(hook('a'));
    await scene.deliveries.drained();
    expect(scene.taken).toEqual([]);
    expect((await scene.restart()).taken).toEqual([]);
    scene.failure = undefined;
    await scene.deliveries.onLead();
    expect(await states()).toEqual(['done']);
    expect(scene.taken).toMatchObject([{ source, occurrence: opened(1) }]);
    await scene.restart();
    await scene.deliveries.onLead();
    await scene.deliveries.drained();
    expect(scene.taken).toHaveLength(1);
  });

  it('takes up at its start what had its run and no verdict', async () => {
    const { id } = await scene.deliveries.receive(hook('a'));
    await scene.deliveries.drained();
    await scene.logs.database.kysely
      .updateTable('automation_delivery')
      .set({ state: 'received' })
      .where('id', '=', id)
      .execute();
    await scene.restart();
    scene.wants = () => false;
    await scene.deliveries.onLead();
    expect(await states()).toEqual(['done']);
  });

  it('tries again when the host does not answer, and in the end says so', async () => {
    await scene.automation({
      host: 'git.acme.dev',
      repository: 'acme/api',
      event: 'checks.failed',
    });
    const sha = '1'.repeat(40);
    const asked: Occurrence = { ...opened(1), event: 'checks.failed', key: 'checks:x', sha };
    let asks = 0;
    scene.forge = {
      checks: () => {
        asks += 1;
        return Promise.reject(new AppError('unavailable', 'git.acme.dev is away. Try later.'));
      },
    };
    await scene.deliveries.receive(hook('a', { occurrence: asked, asks: true }));
    expect(await states()).toEqual(['received']);
    await scene.clock.forward(3 * 3_600_000, () => scene.deliveries.drained());
    expect(await scene.stored()).toMatchObject([
      { state: 'refused', why: 'git.acme.dev is away. Try later.' },
    ]);
    expect(asks).toBe(6);
  });

  it('removes what is older than 90 days', async () => {
    await scene.deliveries.receive(hook('a'));
    await scene.deliveries.drained();
    await scene.deliveries.onLead();
    await scene.clock.forward(89 * 86_400_000);
    expect(await states()).toEqual(['done']);
    await scene.clock.forward(3 * 86_400_000, () => scene.deliveries.drained());
    expect(await states()).toEqual([]);
  });

  it('lists what an automation learned of, newest first and in pages', async () => {
    const { id } = await scene.automation({
      host: 'git.acme.dev',
      repository: 'acme/api',
      event: 'issue.opened',
    });
    const other = await scene.source({ repository: 'acme/web' });
    for (const at of [1, 2, 3])
      await scene.deliveries.receive(hook(`d${at}`, { occurrence: opened(at) }));
    await scene.deliveries.receive(hook('foreign', { source: other, occurrence: opened(4) }));
    await scene.deliveries.drained();
    const [newest, second, ...rest] = await scene.deliveries.list(id, { limit: 1 });
    expect([newest, second]).toMatchObject([
      { event: 'issues', transport: 'webhook', state: 'done', runs: ['run-3'] },
      { runs: ['run-2'] },
    ]);
    expect(rest).toEqual([]);
    const after = await scene.deliveries.list(id, { limit: 5, after: newest?.id });
    expect(after.map(({ runs }) => runs)).toEqual([['run-2'], ['run-1']]);
  });

  it('stores what strangers name, in any letters', async () => {
    const name = 'a\0b\u2028\ud800%_'.repeat(40);
    const key = eventKey('label', 1, name);
    const occurrence = { ...opened(1), key, label: name.slice(0, 300).toWellFormed() };
    await scene.deliveries.receive(hook(`x${name}`, { event: name, occurrence }));
    expect(await states()).toEqual(['done']);
    expect(scene.taken[0]?.occurrence.label).toBe(occurrence.label);
  });
});

alwaysOnEveryDatabase('questions to the host', (databases) => {
  let scene: TriggerScene;
  let source: string;
  const sha = 'a'.repeat(40);
  const asked: Occurrence = { ...opened(1), event: 'checks.failed', key: `checks:${sha}`, sha };
  beforeEach(async () => {
    scene = await new TriggerScene(databases).open();
    source = await scene.source();
    scene.forge = { pullsAt: () => Promise.resolve([]) };
  });
  afterEach(() => scene.close());

  const receive = (delivery: string) =>
    scene.deliveries.receive({
      source,
      transport: 'webhook',
      delivery,
      event: 'check_suite',
      occurrence: asked,
      asks: true,
    });
  const onChecks = () =>
    scene.automation({
      host: 'git.acme.dev',
      repository: 'Acme/API',
      event: ['checks.failed', 'checks.passed'],
    });
  const checks = (...states: ('passed' | 'failed' | 'pending' | 'skipped')[]) => {
    scene.forge.checks = () =>
      Promise.resolve(
        states.map((state, at) => ({ name: `c${at}`, state, url: null, summary: null })),
      );
  };

  it.each([
    ['failed', ['failed', 'passed']],
    ['passed', ['passed', 'skipped']],
  ] as const)('begins with checks.%s of all checks', async (state, states) => {
    await onChecks();
    checks(...states);
    await receive('a');
    const [row] = await scene.stored();
    expect(row).toMatchObject({ state: 'done' });
    expect(row?.key).toMatch(new RegExp(`^checks:${sha}:${state}:[0-9a-f]{16}$`));
    expect(scene.taken).toMatchObject([{ occurrence: { event: `checks.${state}`, sha } }]);
    await receive('b');
    expect(await scene.stored()).toMatchObject([{ state: 'done' }, { state: 'duplicate' }]);
    expect(scene.taken).toHaveLength(1);
  });

  it.each([
    ['The host lists no checks of aaaaaaaaaaaa.', []],
    ['The host lists no checks of aaaaaaaaaaaa.', ['skipped']],
    ['Other checks of aaaaaaaaaaaa are still running.', ['failed', 'pending']],
  ] as const)('begins nothing: %s', async (why, states) => {
    await onChecks();
    checks(...states);
    await receive('a');
    expect(await scene.stored()).toMatchObject([{ state: 'ignored', why }]);
    expect(scene.taken).toEqual([]);
  });

  it('asks nothing for a repository whose checks no automation wants', async () => {
    await scene.automation({ host: 'git.acme.dev', repository: 'acme/api', event: 'issue.opened' });
    scene.forge.checks = () => Promise.reject(new Error('It was asked.'));
    await receive('a');
    expect(await scene.stored()).toMatchObject([
      {
        state: 'ignored',
        why: 'No automation that is on begins with checks.failed of this repository.',
      },
    ]);
  });
});
