import { AppError } from '@belay/protocol';
import { until } from '@belay/testing';
import { GitScene } from '../../testing/git-scene.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { Outgoing } from '../out/outgoing.js';
import type { PublishedRun } from '../out/published-run.js';
import { RunPublisher } from '../out/run-publisher.js';
import { RunBench } from '../testing/run-bench.js';
import { RunMaterials } from '../trust/run-materials.js';
import { RunRefusal } from '../run-record.js';

const scene = new GitScene();
const { belay } = scene;
const bench = new RunBench(belay, () => scene.start());
beforeAll(() => bench.start());
afterAll(() => scene.close());
afterEach(() => {
  jest.restoreAllMocks();
  belay.sandboxes.runCheck = () => Promise.resolve({ exitCode: 0, output: '', seconds: 0 });
});

const minuteMs = 60_000;

/** One whose runs clone a repository and publish. */
const publishing = (more: object = {}): Promise<SavedAutomation> =>
  bench.byHand({
    on: { hand: true, repository: scene.repository().url },
    out: { pullRequest: {}, comment: {} },
    ...more,
  });

const published = (more: Partial<PublishedRun> = {}): PublishedRun => ({
  outcome: 'published',
  why: 'It was published.',
  tree: 'tree',
  changedFiles: 2,
  checkExit: null,
  verdict: 'confirmed',
  commit: 'c'.repeat(40),
  pullRequest: { url: 'https://git.test/acme/api/pulls/1', number: 1, into: 'x' },
  ...more,
});

const publisher = () => jest.spyOn(belay.app.get(RunPublisher), 'publish');
const outgoing = <Name extends 'planEnd' | 'deliver'>(name: Name) =>
  jest.spyOn(belay.app.get(Outgoing), name);
const materials = <Name extends 'of' | 'actorStillMay'>(name: Name) =>
  jest.spyOn(belay.app.get(RunMaterials), name);
const work = async (automation: SavedAutomation) => bench.works(await bench.begin(automation));

describe('what comes of a session', () => {
  it('is published, and says whether it was proven', async () => {
    const publish = publisher().mockResolvedValue(published());
    expect(await work(await publishing())).toMatchObject({
      state: 'done',
      code: 'published',
      why: 'It was published.',
      result: { commit: 'c'.repeat(40), pullRequest: { number: 1 } },
    });
    publish.mockResolvedValue(published({ verdict: 'inconclusive', outcome: 'speculative' }));
    expect(await work(await publishing())).toMatchObject({ state: 'done', code: 'speculative' });
  });

  it('is not published if the check fails, which the host is told', async () => {
    const publish = publisher().mockResolvedValue(published());
    const planned = outgoing('planEnd');
    belay.sandboxes.runCheck = () => Promise.resolve({ exitCode: 1, output: '', seconds: 0 });
    const checked = await publishing({ run: { check: 'npm test' } });
    expect(await work(checked)).toMatchObject({ state: 'failed', code: 'check' });
    expect(publish).not.toHaveBeenCalled();
    expect(planned.mock.calls.map(([{ code }]) => code)).toEqual(['check']);
    belay.sandboxes.runCheck = () => Promise.resolve({ exitCode: 0, output: '', seconds: 0 });
    bench.clock.skip(minuteMs);
    expect(await work(checked)).toMatchObject({ state: 'done', result: { checkExit: 0 } });
  });

  it('is stuck without changes, and when it goes in circles', async () => {
    const none = { changedFiles: 0, tree: null, commit: null, pullRequest: null };
    const publish = publisher().mockResolvedValue(published({ ...none, outcome: 'nothing' }));
    expect(await work(await publishing())).toMatchObject({ state: 'done', code: 'stuck' });
    publish.mockResolvedValue(published({ ...none, outcome: 'answered' }));
    const answered = await publishing();
    expect(await work(answered)).toMatchObject({ state: 'done', code: 'answered' });
    expect((await bench.engine.lanesOf(answered))[0]?.stuck).toBe('It changed no file.');
    const automation = await publishing();
    for (const tree of ['a', 'b', 'a']) {
      publish.mockResolvedValue(published({ tree }));
      expect(await work(automation)).toMatchObject({ state: 'done', code: 'published' });
      bench.clock.skip(minuteMs);
    }
    const next = await bench.run(await bench.begin(automation));
    expect(next).toMatchObject({ state: 'skipped', code: 'stuck' });
    expect(next.why).toContain('in circles');
  });

  it('is sent again later while the host is not there, and not at all if it refuses', async () => {
    const gone = new AppError('unavailable', 'The host is not there.');
    const publish = publisher().mockRejectedValueOnce(gone).mockResolvedValue(published());
    const id = await bench.begin(await publishing());
    await bench.finishes(id);
    await until('it was tried', () => bench.waiting === 1);
    expect((await bench.run(id)).state).toBe('proving');
    bench.clock.skip(minuteMs);
    expect(await bench.ended(id)).toMatchObject({ state: 'done', code: 'published' });
    expect(publish).toHaveBeenCalledTimes(2);
    publish.mockRejectedValue(new AppError('rejected', 'The branch is protected.'));
    expect(await work(await publishing())).toMatchObject({
      state: 'failed',
      code: 'publish',
      why: 'It was not published. The branch is protected.',
    });
    publish.mockRejectedValue(new RunRefusal('skipped', 'moved', 'Its branch moved.'));
    const planned = outgoing('planEnd');
    expect(await work(await publishing())).toMatchObject({ state: 'skipped', code: 'moved' });
    expect(planned).toHaveBeenCalledTimes(1);
  });

  it('is not sent for someone who may not write any more', async () => {
    const publish = publisher().mockResolvedValue(published());
    const may = materials('actorStillMay').mockResolvedValue(false);
    const [planned, delivered] = [outgoing('planEnd'), outgoing('deliver')];
    const automation = await publishing();
    expect(await work(automation)).toMatchObject({ state: 'refused', code: 'permission' });
    for (const sent of [publish, planned, delivered]) expect(sent).not.toHaveBeenCalled();
    may.mockResolvedValue(true);
    bench.clock.skip(minuteMs);
    expect(await work(automation)).toMatchObject({ state: 'done' });
  });

  it('is done when the host has taken everything, and failed if it never does', async () => {
    publisher().mockResolvedValue(published());
    const deliver = outgoing('deliver');
    const id = await bench.begin(await publishing());
    await until('the host is told that it began', () => deliver.mock.calls.length === 1);
    deliver.mockResolvedValueOnce({ done: false, failed: null, nextAt: null });
    await bench.finishes(id);
    await bench.reaches(id, 'publishing');
    await until('it waits', () => bench.waiting === 1);
    bench.clock.skip(minuteMs);
    expect(await bench.ended(id)).toMatchObject({ state: 'done' });
    deliver.mockResolvedValue({ done: true, failed: 'The comment holds a secret.', nextAt: null });
    expect(await work(await publishing())).toMatchObject({
      state: 'failed',
      code: 'outgoing',
      why: 'The comment holds a secret.',
    });
  });
});

describe('a run that may not begin', () => {
  it('is refused with everything that was decided up to then', async () => {
    const why = 'eve may read, and write is needed.';
    const of = materials('of').mockRejectedValue(
      new RunRefusal('refused', 'permission', why, [
        { check: 'own', holds: true, why: 'Not own.' },
      ]),
    );
    const automation = await bench.byHand();
    const refused = await bench.run(await bench.begin(automation));
    expect(refused).toMatchObject({ state: 'refused', code: 'permission', why, session: null });
    expect(refused.decisions.slice(-2)).toEqual([
      { check: 'own', holds: true, why: 'Not own.' },
      { check: 'permission', holds: false, why },
    ]);
    expect(await bench.sessions(automation)).toEqual([]);
    of.mockRestore();
    await work(automation);
  });

  it('is asked about again while the host is not there', async () => {
    const gone = new AppError('limit_reached', 'Later.', { retryAfterMs: 2 * minuteMs });
    const of = materials('of').mockRejectedValueOnce(gone);
    const id = await bench.begin(await bench.byHand());
    expect((await bench.run(id)).state).toBe('pending');
    bench.clock.skip(minuteMs);
    expect((await bench.run(id)).state).toBe('pending');
    bench.clock.skip(1.5 * minuteMs);
    await bench.works(id);
    of.mockRejectedValue(new AppError('unavailable', 'Gone for good.'));
    const never = await bench.begin(await bench.byHand());
    for (let tries = 0; tries < 20 && (await bench.run(never)).state === 'pending'; tries++) {
      await until('it waits', async () =>
        bench.waiting === 1 ? true : (await bench.run(never)).state !== 'pending',
      );
      bench.clock.skip(10 * minuteMs);
    }
    expect(await bench.ended(never)).toMatchObject({ state: 'failed', why: 'Gone for good.' });
  });

  it('does not count as an attempt, and costs nothing, when it is refused right before its session', async () => {
    const automation = await bench.byHand();
    const { of: real } = belay.app.get(RunMaterials);
    const of = materials('of');
    of.mockImplementationOnce(real.bind(belay.app.get(RunMaterials)));
    of.mockRejectedValueOnce(new RunRefusal('refused', 'permission', 'Not any more.'));
    const id = await bench.begin(automation);
    expect(await bench.ended(id)).toMatchObject({
      state: 'refused',
      code: 'permission',
      reserved: 0,
      spent: 0,
    });
    expect(await bench.sessions(automation)).toEqual([]);
    expect(await bench.engine.lanesOf(automation)).toEqual([]);
  });
});
