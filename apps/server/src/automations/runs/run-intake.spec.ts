import {
  FollowedRepository,
  letEveryoneBegin,
  occurrenceOf,
} from '../testing/followed-repository.js';
import { RunBench } from '../testing/run-bench.js';

const bench = new RunBench();
beforeAll(async () => {
  await bench.start();
  letEveryoneBegin(bench);
});
afterAll(() => bench.close());

const on = (event: string | string[], more: object = {}) =>
  ({ on: { host: 'git.test', repository: 'Acme/api', event, ...more } }) as never;

describe('what was learned of', () => {
  let api: FollowedRepository;
  let other: FollowedRepository;
  beforeAll(async () => {
    api = await FollowedRepository.of(bench, 'acme/api');
    other = await FollowedRepository.of(bench, 'acme/web');
  });

  it('makes one run for each automation whose trigger fits, however often it comes', async () => {
    const opened = await bench.define(on(['issue.opened', 'issue.labelled']));
    const labelled = await bench.define(on('issue.labelled', { label: 'belay' }));
    const fix = await bench.define(on('issue.command', { command: 'fix' }));
    const runsOf = async (ids: string[]) =>
      (await Promise.all(ids.map((id) => bench.run(id)))).map(({ automation }) => automation.name);
    const first = await api.delivers(occurrenceOf('issue.opened'), 'd1');
    expect(await runsOf(first)).toEqual([opened.name]);
    expect(await bench.run(first[0] ?? '')).toMatchObject({ subject: '#7', lane: '#7' });
    // The same by polling, and another delivery of it.
    expect(await api.delivers(occurrenceOf('issue.opened'), 'd2')).toEqual([]);
    expect(await other.delivers(occurrenceOf('issue.opened', { key: 'x' }), 'd3')).toEqual([]);
    const label = (name: string) => occurrenceOf('issue.labelled', { key: name, label: name });
    expect(await runsOf(await api.delivers(label('bug'), 'd4'))).toEqual([opened.name]);
    expect(await runsOf(await api.delivers(label('belay'), 'd5'))).toEqual([
      opened.name,
      labelled.name,
    ]);
    const command = (name: string) => occurrenceOf('issue.command', { key: name, command: name });
    expect(await runsOf(await api.delivers(command('fix'), 'd6'))).toEqual([fix.name]);
    expect(await api.delivers(command('review'), 'd7')).toEqual([]);
    const states = await bench.kysely
      .selectFrom('automation_delivery')
      .select(['id', 'state'])
      .where('id', 'in', ['d1', 'd3', 'd6', 'd7'])
      .orderBy('id')
      .execute();
    expect(states.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'd1 done',
      'd3 received',
      'd6 done',
      'd7 received',
    ]);
  });

  it('makes one run of a review and its comments, whichever comes first', async () => {
    const answers = await bench.define(on(['pull.reviewed', 'pull.commented', 'pull.command']));
    const commands = await bench.define(on('pull.command'));
    const about = (key: string, event: 'pull.reviewed' | 'pull.commented' | 'pull.command') =>
      occurrenceOf(event, { key, review: 'review:88', number: 40 });
    const [first = '', ...others] = await api.delivers(about('line:1', 'pull.commented'), 'v1');
    expect(others).toEqual([]);
    expect(await bench.run(first)).toMatchObject({ eventKey: 'review:88' });
    expect(await api.delivers(about('review:88', 'pull.reviewed'), 'v2')).toEqual([]);
    expect(await api.delivers(about('line:2', 'pull.commented'), 'v3')).toEqual([]);
    // Who begins only with commands has no run of the review.
    const [command = ''] = await api.delivers(about('line:3', 'pull.command'), 'v4');
    expect((await bench.run(command)).automation.id).toBe(commands.id);
    // A comment without a review, and another review.
    const alone = occurrenceOf('pull.commented', { key: 'comment:9', number: 40 });
    expect(await api.delivers(alone, 'v5')).toHaveLength(1);
    const next = { ...about('review:89', 'pull.reviewed'), review: 'review:89' };
    expect(await api.delivers(next, 'v6')).toHaveLength(1);
    const rows = await bench.kysely
      .selectFrom('automation_delivery')
      .select(['id', 'state', 'why'])
      .where('id', 'in', ['v1', 'v2', 'v3', 'v4', 'v5'])
      .orderBy('id')
      .execute();
    const part = `ignored Part of a review, which began the run ${first}.`;
    expect(rows.map(({ id, state, why }) => `${id} ${state} ${why}`)).toEqual([
      'v1 done null',
      `v2 ${part}`,
      `v3 ${part}`,
      'v4 done null',
      'v5 done null',
    ]);
    for (const { id } of [answers, commands]) await bench.automations.setState(id, 'paused', null);
  });

  it('makes one run of what a user says at one time, and waits until all of it is there', async () => {
    const automation = await bench.define(on('pull.commented'));
    const said = (id: number, at: number, user = 5) =>
      occurrenceOf('pull.commented', {
        key: `comment:${id}`,
        review: `review:41:${user}:@${1_796_000_000 + at}`,
        number: 41,
      });
    const [first = ''] = await api.delivers(said(1, 0), 'g1');
    expect(await api.delivers(said(2, 10), 'g2')).toEqual([]);
    expect(await api.delivers(said(3, -3), 'g3')).toEqual([]);
    expect(await bench.run(first)).toMatchObject({ state: 'pending' });
    const [later = ''] = await api.delivers(said(4, 11), 'g4');
    const [other = ''] = await api.delivers(said(5, 1, 6), 'g5');
    bench.clock.skip(11_000);
    await bench.sessionOf(first);
    expect(await bench.reaches(later, 'queued')).toMatchObject({
      automation: { id: automation.id },
    });
    expect(await bench.reaches(other, 'queued')).toMatchObject({ lane: '#41' });
    await bench.automations.setState(automation.id, 'paused', null);
  });

  it('makes none for an automation that is paused, or is begun in another way', async () => {
    const paused = await bench.define(on('release.published'));
    await bench.automations.setState(paused.id, 'paused', null);
    const byUrl = await bench.define({ on: { url: true } });
    expect(await api.delivers(occurrenceOf('release.published'), 'd8')).toEqual([]);
    expect(await bench.take(byUrl, 'u')).toHaveLength(1);
    await bench.automations.setState(paused.id, 'on', null);
    expect(
      await api.delivers(occurrenceOf('release.published', { key: 'v2' }), 'd10'),
    ).toHaveLength(1);
  });

  it('keeps the newest head of a pull request that waits, in whichever order they come', async () => {
    const automation = await bench.define({
      ...(on('pull.updated') as object),
      lane: { cooldown: '2h' },
    } as never);
    const head = (at: string, sha: string) =>
      occurrenceOf('pull.updated', { key: `pull:7:${sha}`, at, sha: sha.repeat(40) });
    const [working = ''] = await api.delivers(head('2026-11-28T09:00:00Z', 'a'), 'p0');
    await bench.sessionOf(working);
    const [older = ''] = await api.delivers(head('2026-11-28T10:00:00Z', 'b'), 'p1');
    await bench.reaches(older, 'queued');
    const [newer = ''] = await api.delivers(head('2026-11-28T11:00:00Z', 'c'), 'p2');
    expect(await bench.run(older)).toMatchObject({ state: 'skipped', code: 'newer' });
    const [late = ''] = await api.delivers(head('2026-11-28T10:30:00Z', 'd'), 'p3');
    expect(await bench.run(late)).toMatchObject({ state: 'skipped', code: 'newer' });
    const [another = ''] = await api.delivers(
      {
        ...head('2026-11-28T11:30:00Z', 'e'),
        number: 8,
      },
      'p4',
    );
    expect(await bench.run(another)).not.toMatchObject({ code: 'newer' });
    expect(await bench.run(newer)).not.toMatchObject({ code: 'newer' });
    expect((await bench.run(working)).state).toBe('working');
    expect(automation.name).toBe((await bench.run(newer)).automation.name);
  });

  it('is for one automation: its URL, its schedule, the end of another session', async () => {
    const byUrl = await bench.define({
      on: { url: true, where: "severity == 'critical'" },
      lane: { key: 'alert {alert}' },
    });
    const send = (key: string, payload: object) =>
      bench.take(byUrl, key, { payload: JSON.stringify(payload) });
    const [mild = ''] = await send('url:1', { severity: 'mild', alert: 3 });
    expect(await bench.ended(mild)).toMatchObject({ state: 'skipped', code: 'filter' });
    const [grave = ''] = await send('url:2', { severity: 'critical', alert: 3 });
    expect(await send('url:2', { severity: 'critical', alert: 3 })).toEqual([]);
    expect(await bench.works(grave)).toMatchObject({ state: 'done', lane: 'alert 3' });
    const after = await bench.define({ on: { session: { state: ['finished'] } } });
    const [next = ''] = await bench.take(after, 'session:s:1', {
      event: 'session.ended',
      session: 's',
    });
    expect(await bench.works(next)).toMatchObject({ state: 'done', subject: 'session.ended' });
  });

  it('is repeated by hand, if the trigger fits', async () => {
    const opened = await bench.define(on('issue.assigned'));
    const [first = ''] = await api.delivers(occurrenceOf('issue.assigned'), 'h1');
    await bench.works(first);
    bench.clock.skip(3_600_000);
    const again = await bench.begin(opened, { delivery: 'h1' });
    expect(await bench.works(again)).toMatchObject({
      delivery: 'h1',
      occurrence: { event: 'issue.assigned', number: 7 },
    });
    const others = bench.begin(await bench.byHand(), { delivery: 'h1' });
    await expect(others).rejects.toMatchObject({ code: 'not_found' });
  });

  it('stops at ten runs about one issue in a day, of all automations together', async () => {
    const two = [await bench.define(on('issue.command')), await bench.define(on('issue.command'))];
    for (const { id } of two)
      await bench.kysely
        .updateTable('automation')
        .set({ updated: new Date().toISOString() })
        .where('id', '=', id)
        .execute();
    let made = 0;
    for (let at = 0; made < 10; at++) {
      const about = occurrenceOf('issue.command', { key: `c${at}`, command: 'go', number: 99 });
      for (const id of await api.delivers(about, `c${at}`)) {
        if (made < 10) await bench.works(id);
        else expect(await bench.ended(id)).toMatchObject({ code: 'subject-per-day' });
        made += 1;
      }
      for (const { id } of two) await bench.engine.resetLane({ ...two[0], id } as never, '#99');
      bench.clock.skip(2 * 3_600_000);
    }
  });
});
