import { newEvent, type AutomationDefinitionInput } from '@belay/protocol';
import { RunBench } from '../testing/run-bench.js';

const bench = new RunBench();
const { belay } = bench;
beforeAll(() => bench.start());
afterAll(() => bench.close());

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const laned = (lane: AutomationDefinitionInput['lane'], more: object = {}) =>
  bench.byHand({ ...more, lane: { attempts: 20, ...lane } });

/** Has an agent spend this of its session’s budget. */
async function spends(id: string, dollars: number): Promise<void> {
  const session = await bench.sessionOf(id);
  const tokens = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, contextTokens: 1 };
  const usage = { ...tokens, contextWindow: null, model: 'scripted:x', dollars };
  await belay.log.append(session, [newEvent('server', 'usage', { args: usage, message: 'Used.' })]);
}

describe('one run at a time in a lane', () => {
  it('queue: the next begins when the one before has ended, in order', async () => {
    const automation = await laned({ busy: 'queue', queued: 2 });
    const [first, second, third] = [
      await bench.begin(automation),
      await bench.begin(automation),
      await bench.begin(automation),
    ];
    expect(await bench.run(await bench.begin(automation))).toMatchObject({
      state: 'skipped',
      code: 'queue-full',
    });
    await bench.finishes(first);
    await bench.ended(first);
    expect(await bench.run(third)).toMatchObject({ state: 'queued', session: null });
    bench.clock.skip(2_000);
    await bench.works(second);
    bench.clock.skip(2_000);
    await bench.works(third);
    expect(await bench.sessions(automation)).toHaveLength(3);
  });

  it('skip: what comes meanwhile is not run', async () => {
    const automation = await laned({ busy: 'skip' });
    const first = await bench.begin(automation);
    await bench.sessionOf(first);
    bench.clock.skip(2_000);
    expect(await bench.run(await bench.begin(automation))).toMatchObject({
      state: 'skipped',
      code: 'busy',
      why: `The run ${first} of its lane is at work.`,
    });
    await bench.works(first);
    bench.clock.skip(2_000);
    await bench.works(await bench.begin(automation));
  });

  it('replace: what comes meanwhile ends the one before', async () => {
    const automation = await laned({ busy: 'replace' });
    const first = await bench.begin(automation);
    const session = await bench.sessionOf(first);
    const second = await bench.begin(automation);
    const third = await bench.begin(automation);
    expect(await bench.ended(first)).toMatchObject({
      state: 'cancelled',
      code: 'replaced',
      why: `It was replaced by the run ${second}.`,
    });
    expect((await belay.log.summary(session)).state).toBe('stopped');
    expect(await bench.ended(second)).toMatchObject({ state: 'cancelled', code: 'replaced' });
    bench.clock.skip(2_000);
    await bench.works(third);
    expect(await bench.sessions(automation)).toHaveLength(2);
  });

  it('lanes of other keys do not wait', async () => {
    const automation = await laned({ key: 'issue {number}' });
    const [one, two] = [
      await bench.begin(automation, { number: 1 }),
      await bench.begin(automation, { number: 2 }),
    ];
    await bench.works(one);
    expect(await bench.works(two)).toMatchObject({ lane: 'issue 2', subject: '#2', state: 'done' });
  });
});

describe('limits', () => {
  it('attempts: the next needs a user', async () => {
    const automation = await laned({ attempts: 2 }, { run: { check: 'test' } });
    let exitCode = 1;
    belay.sandboxes.runCheck = () =>
      Promise.resolve({ exitCode: exitCode++, output: 'x', seconds: 0 });
    for (let made = 0; made < 2; made++) {
      await bench.works(await bench.begin(automation));
      bench.clock.skip(2_000);
    }
    expect(await bench.run(await bench.begin(automation))).toMatchObject({
      state: 'skipped',
      code: 'attempts',
    });
    await bench.engine.resetLane(automation, 'hand');
    const again = await bench.begin(automation);
    belay.sandboxes.runCheck = () => Promise.resolve({ exitCode: 0, output: '', seconds: 0 });
    expect(await bench.works(again)).toMatchObject({ state: 'done' });
  });

  it('cooldown: the next waits for its time, or is skipped in a lane that skips', async () => {
    const automation = await laned({ cooldown: '10m' });
    await bench.works(await bench.begin(automation));
    const next = await bench.begin(automation);
    expect(await bench.run(next)).toMatchObject({ state: 'queued', session: null });
    bench.clock.skip(11 * 60_000);
    await bench.works(next);
    const skipping = await laned({ cooldown: '10m', busy: 'skip' });
    await bench.works(await bench.begin(skipping));
    expect(await bench.run(await bench.begin(skipping))).toMatchObject({ code: 'cooldown' });
  });

  it.each([
    ['per-hour', { perHour: 2 }, hourMs],
    ['per-day', { perDay: 2 }, dayMs],
  ])('%s: so many in this time, and more afterwards', async (code, lane, ms) => {
    const automation = await laned(lane);
    for (let made = 0; made < 2; made++) {
      await bench.works(await bench.begin(automation));
      bench.clock.skip(2_000);
    }
    expect(await bench.run(await bench.begin(automation))).toMatchObject({
      state: 'skipped',
      code,
    });
    bench.clock.skip(ms);
    await bench.works(await bench.begin(automation));
  });

  it('month: reserved whole when it begins, settled with what was spent, in months of UTC', async () => {
    const automation = await laned({ dollarsPerMonth: 2.5, key: '{number}' });
    const [one, two] = [
      await bench.begin(automation, { number: 1 }),
      await bench.begin(automation, { number: 2 }),
    ];
    expect(await bench.reaches(one, 'working')).toMatchObject({ reserved: 1_000_000 });
    await bench.reaches(two, 'working');
    const refused = await bench.run(await bench.begin(automation, { number: 3 }));
    expect(refused).toMatchObject({ state: 'skipped', code: 'month' });
    expect(refused.why).toContain('$2.00 of $2.50');
    await spends(one, 0.25);
    expect(await bench.works(one)).toMatchObject({ spent: 250_000, reserved: 0 });
    const third = await bench.begin(automation, { number: 3 });
    await bench.reaches(third, 'working');
    await spends(third, 1);
    await bench.works(third);
    await spends(two, 1);
    await bench.works(two);
    expect(await bench.run(await bench.begin(automation, { number: 4 }))).toMatchObject({
      code: 'month',
    });
    bench.clock.skip(31 * dayMs);
    await bench.works(await bench.begin(automation, { number: 4 }));
  });

  it('a run that is limited by tokens reserves nothing', async () => {
    const automation = await laned({}, { run: { budgets: { tokens: 1_000 } } });
    const id = await bench.begin(automation);
    expect(await bench.reaches(id, 'working')).toMatchObject({ reserved: 0 });
    await bench.works(id);
  });

  it('late: only a schedule has a time to keep', async () => {
    const automation = await bench.define({ on: { schedule: '0 3 * * *', late: '10m' } });
    const at = new Date(bench.clock.now().getTime() - 20 * 60_000).toISOString();
    const [late = ''] = await bench.take(automation, 'schedule:1', { at });
    expect(await bench.ended(late)).toMatchObject({ state: 'skipped', code: 'late' });
    const [timely = ''] = await bench.take(automation, 'schedule:2');
    expect(await bench.works(timely)).toMatchObject({ state: 'done', subject: 'schedule' });
  });

  it('budget: spent twice in a row, the lane is stuck', async () => {
    const automation = await laned({});
    for (let made = 0; made < 2; made++) {
      const id = await bench.begin(automation);
      const session = await bench.sessionOf(id);
      const args = { state: 'limited', reason: 'The budget of dollars is spent.' } as const;
      await belay.log.append(session, [newEvent('server', 'state', { args, message: 'Limited.' })]);
      expect(await bench.ended(id)).toMatchObject({ state: 'failed', code: 'budget' });
      bench.clock.skip(2_000);
    }
    expect(await bench.run(await bench.begin(automation))).toMatchObject({ code: 'stuck' });
  });

  it('five failures in a row pause the automation, with the reason', async () => {
    const automation = await laned({ key: '{number}' }, { run: { check: 'test' } });
    belay.sandboxes.runCheck = () => Promise.resolve({ exitCode: 7, output: '', seconds: 0 });
    for (let number = 1; number <= 5; number++)
      await bench.works(await bench.begin(automation, { number }));
    belay.sandboxes.runCheck = () => Promise.resolve({ exitCode: 0, output: '', seconds: 0 });
    const broken = await bench.automations.find(automation.id);
    expect(broken?.state).toBe('broken');
    expect(broken?.why).toContain('ended with the exit code 7');
    expect(await bench.run(await bench.begin(automation))).toMatchObject({ code: 'paused' });
  });
});
