import { sampled } from '@belay/testing';
import type { PlayedKind } from '@belay/testkit';
import { StrangerScene, type StrangerPlace } from './testing/stranger-scene.js';
import { Deliveries } from './triggers/deliveries.js';

const scene = new StrangerScene();
beforeAll(() => scene.start());
afterEach(() => scene.leave());
afterAll(() => scene.close());

/** As the job that answers reviews has it. */
const answers = {
  event: ['pull.reviewed', 'pull.commented', 'pull.command'],
  command: 'answer',
};
/** What GitLab says of a review is waited for. */
const waitMs = 11_000;

const changed = (place: StrangerPlace) => {
  place.state.push('feature', { by: 'ada', files: { 'src/a.js': 'one\ntwo\nthree\n' } });
  return place.state.openPull({ by: 'ada', branch: 'feature', title: 'A change' });
};

const reviewed = (place: StrangerPlace, pull: ReturnType<typeof changed>) =>
  place.state.review(pull, {
    by: 'ada',
    verdict: 'changes',
    body: 'Two things.',
    lines: [
      { path: 'src/a.js', line: 1, body: 'Why?' },
      { path: 'src/a.js', line: 2, body: '/belay answer this' },
    ],
  });

/** The runs after all that happened was learned of. */
async function runsOf(place: StrangerPlace, polls: boolean) {
  if (polls) await place.polled();
  await place.forge.hooks.idle();
  await scene.bench.belay.app.get(Deliveries).drained();
  scene.bench.clock.skip(waitMs);
  return place.settled();
}

const partsOf = async (place: StrangerPlace, run: string): Promise<number> => {
  const why = `Part of a review, which began the run ${run}.`;
  const rows = await place.deliveries();
  return rows.filter((row) => row.state === 'ignored' && row.why === why).length;
};

/** Gitea tells of a review with its comments at once; the others tell of each comment as well. */
const toldApart: Record<PlayedKind, number> = { github: 2, gitlab: 2, gitea: 0 };

const ways = sampled(3, [
  ['github', 'webhooks'],
  ['gitlab', 'polling'],
  ['gitea', 'webhooks'],
  ['github', 'polling'],
  ['gitlab', 'webhooks'],
  ['gitea', 'polling'],
]);

describe('a review of a pull request', () => {
  it.each(ways)('begins one run with its comments, at %s by %s', async (kind, way) => {
    const polls = way === 'polling';
    const place = await scene.place(kind, { on: answers, polls });
    const pull = changed(place);
    if (polls) await place.polled();
    reviewed(place, pull);
    const [run, ...others] = await runsOf(place, polls);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ eventKey: expect.stringMatching(/^review:/), code: null });
    expect(await partsOf(place, run?.id ?? '')).toBe(toldApart[kind]);

    // A later reply begins its own; Gitea’s webhooks tell only of comments.
    const [thread] = pull.pull.threads;
    if (kind === 'gitea' || !thread) place.state.comment(pull, 'And this?', { by: 'ada' });
    else place.state.reply(pull, thread, { by: 'ada', body: 'And this?' });
    expect(await runsOf(place, polls)).toHaveLength(2);
  });

  it.each(sampled(1, ['github', 'gitlab']))(
    'is the same one at %s when polling finds what webhooks lost',
    async (kind) => {
      const on = { ...answers, by: 'both' };
      const place = await scene.place(kind, { on });
      const pull = changed(place);
      await runsOf(place, true);
      const { hooks } = place.forge;
      let sent = 0;
      hooks.fate = () => (sent++ === 0 ? 'send' : 'drop');
      place.state.review(pull, {
        by: 'ada',
        verdict: 'comment',
        body: 'One thing.',
        lines: [{ path: 'src/a.js', line: 1, body: 'Why?' }],
      });
      const [run, ...others] = await runsOf(place, false);
      expect(others).toEqual([]);
      scene.bench.clock.skip(600_000);
      expect(await runsOf(place, true)).toMatchObject([{ id: run?.id }]);
      expect(await partsOf(place, run?.id ?? '')).toBe(1);
    },
  );
});
