import { ownerCaller } from '../access/caller.js';
import { StrangerScene } from './testing/stranger-scene.js';

const scene = new StrangerScene();
const { bench } = scene;
const on = { event: 'issue.labelled', label: 'belay' };
const hourMs = 3_600_000;

beforeAll(() => scene.start());
afterEach(() => scene.leave());
afterAll(() => scene.close());

describe('the audit log of what automations do by themselves', () => {
  it('says which run began a session, for which event and whom, and what it sent', async () => {
    const place = await scene.place('github', { on, more: { out: { comment: {} } } });
    const issue = place.label();
    await place.task();
    const [run] = await place.runs();
    await bench.works(run?.id ?? '');
    const ada = place.state.who('ada').id;
    const about = `${run?.id} (issue.labelled #${issue.number}, by ada (${ada})): `;
    const entries = await bench.audited(place.automation);
    expect(entries.map(({ action, subject }) => [action, subject.slice(0, about.length)])).toEqual([
      ['sessions.create', about],
      ['automations.comment', about],
      ['automations.comment', about],
    ]);
    for (const { api, label, session, outcome } of entries)
      expect({ api, label, session, outcome }).toEqual({
        api: 'automation',
        label: place.automation.name,
        session: run?.session,
        outcome: 'ok',
      });
  });

  it('has nothing of what a stranger could not begin', async () => {
    const place = await scene.place('github', { on });
    place.label({ by: 'mallory' });
    await place.settled();
    expect(await bench.audited(place.automation)).toEqual([]);
  });

  it('says who began a run by hand, that its session was stopped, and why', async () => {
    const automation = await bench.byHand();
    const id = await bench.begin(automation);
    await bench.sessionOf(id);
    await bench.engine.cancel(id, { ...ownerCaller, label: 'Ada' });
    await bench.ended(id);
    const about = `${id} (hand, Owner began it by hand)`;
    expect(await bench.audited(automation)).toMatchObject([
      { action: 'sessions.create', subject: `${about}: ${automation.name}` },
      { action: 'sessions.stop', subject: `${about}: It was cancelled by Ada.` },
    ]);
  });

  it('has what could not be begun, with the code of the error', async () => {
    const automation = await bench.byHand({ run: { template: 'gone', model: undefined } });
    await bench.ended(await bench.begin(automation));
    expect(await bench.audited(automation)).toMatchObject([
      {
        action: 'sessions.create',
        outcome: 'not_found',
        session: null,
        subject: expect.stringContaining('has no template gone'),
      },
    ]);
  });

  it('has an automation that paused itself', async () => {
    const automation = await bench.byHand();
    for (let runs = 0; runs < 5; runs += 1) {
      const id = await bench.begin(automation, { number: runs + 1 });
      bench.belay.sandboxes.lose(await bench.sessionOf(id), 'It was killed');
      await bench.ended(id);
      bench.clock.skip(hourMs);
    }
    const pauses = (await bench.audited(automation)).filter(
      ({ action }) => action === 'automations.pause',
    );
    expect(pauses).toMatchObject([
      { api: 'automation', subject: expect.stringContaining('Its last 5 runs failed') },
    ]);
  });
});
