import { automationTag, newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { ownerCaller } from '../../access/caller.js';
import { AutomationViews } from '../automation-views.js';
import { RunBench } from '../testing/run-bench.js';

const bench = new RunBench();
const { belay } = bench;
beforeAll(() => bench.start());
afterAll(() => bench.close());
afterEach(() => {
  bench.changesFiles(1);
  belay.sandboxes.runCheck = () => Promise.resolve({ exitCode: 0, output: '', seconds: 0 });
});

const hourMs = 3_600_000;

describe('a run that is begun by hand', () => {
  it('has a session with what the definition names and nothing else, and is done when it has changed files', async () => {
    const automation = await bench.byHand({ run: { check: 'npm test' } });
    const id = await bench.begin(automation);
    const session = await bench.sessionOf(id);
    const settings = await belay.log.settings(session);
    expect(settings).toMatchObject({
      task: 'Work',
      egress: {
        profile: 'none',
        hosts: [],
      },
      mcp: [],
      actions: [],
      mounts: [],
      trust: false,
      approvals: 'rules',
      tags: [`${automationTag}${automation.name}`],
      title: `${automation.name} hand`,
      check: 'npm test',
    });
    expect(settings.budgets.dollars).toBe(1);
    expect((await bench.engine.explain(id)).run).toMatchObject({ state: 'working', session });
    const run = await bench.works(id);
    expect((await bench.engine.explain(id)).run).toMatchObject({ state: 'done', session });
    expect(run).toMatchObject({
      state: 'done',
      code: 'nothing',
      reserved: 0,
      why: 'It changed 1 file. Its automation publishes nothing.',
      result: {
        changedFiles: 1,
        checkExit: 0,
      },
    });
    expect(run.decisions.filter(({ holds }) => !holds)).toEqual([]);
    expect(run.decisions.map(({ check }) => check)).toEqual([
      'hand',
      'paused',
      'owner',
      'permission',
      'filter',
      'late',
      'stuck',
      'attempts',
      'cooldown',
      'per-hour',
      'per-day',
      'subject-per-day',
      'month',
      'busy',
      'capacity',
    ]);
  });

  it('counts what its session uses after its end', async () => {
    const automation = await bench.byHand();
    const id = await bench.begin(automation);
    const session = await bench.sessionOf(id);
    const uses = (dollars: number) =>
      belay.log.append(session, [
        newEvent('server', 'usage', {
          args: {
            model: 'scripted:x',
            inputTokens: 1,
            cachedTokens: 0,
            outputTokens: 1,
            dollars,
            contextTokens: 1,
            contextWindow: null,
          },
          message: 'It used something.',
        }),
      ]);
    await uses(0.25);
    expect(await bench.works(id)).toMatchObject({ spent: 250_000, reserved: 0 });
    await uses(0.5);
    await until('it is counted', async () => (await bench.run(id)).spent === 750_000);
  });

  it('leaves no timers when its server ends', async () => {
    const automation = await bench.byHand({ run: { approvals: 'ask' } });
    const id = await bench.begin(automation);
    const session = await bench.sessionOf(id);
    await belay.json('POST', `/api/sessions/${session}/pause`, {});
    await until('it waits', () => bench.waiting === 1);
    await belay.app.close();
    expect(bench.clock.timers).toBe(0);
    await bench.start();
    await bench.engine.cancel(id, ownerCaller);
    await bench.ended(id);
  });

  it('belongs to a caller that sees its own sessions alone, also after a restart', async () => {
    const id = await bench.begin(await bench.byHand());
    const session = await bench.sessionOf(id);
    const owner = () =>
      bench.kysely
        .selectFrom('session_owner')
        .select('caller')
        .where('session', '=', session)
        .executeTakeFirst();
    const { automation } = await bench.run(id);
    expect(await owner()).toEqual({ caller: `automation:${automation.id}` });
    await bench.works(id);
  });

  it('is stuck when it changed nothing, and the lane needs a user then', async () => {
    const automation = await bench.byHand();
    bench.changesFiles(0);
    expect(await bench.works(await bench.begin(automation))).toMatchObject({
      state: 'done',
      code: 'stuck',
    });
    bench.clock.skip(hourMs);
    const next = await bench.run(await bench.begin(automation));
    expect(next).toMatchObject({ state: 'skipped', code: 'stuck' });
    expect(next.why).toContain('It changed no file');
    expect(await bench.engine.lanesOf(automation)).toMatchObject([{ key: 'hand', running: null }]);
    await bench.engine.resetLane(automation, 'hand');
    bench.changesFiles(1);
    expect(await bench.works(await bench.begin(automation))).toMatchObject({ state: 'done' });
  });

  it('is not stuck without changes if it is only to answer, or if that is allowed', async () => {
    bench.changesFiles(0);
    for (const more of [{ out: { comment: {} } }, { lane: { stopWhenNoChange: false } }]) {
      const run = await bench.works(await bench.begin(await bench.byHand(more)));
      expect(run).toMatchObject({ state: 'done', code: 'nothing' });
    }
  });

  it('fails with its check, and is stuck when that fails in the same way again', async () => {
    const automation = await bench.byHand({ run: { check: 'npm test' } });
    const fails = (output: string) => {
      belay.sandboxes.runCheck = () => Promise.resolve({ exitCode: 1, output, seconds: 1 });
    };
    fails('a.test.ts:12 FAIL after 31 ms\n');
    const first = await bench.works(await bench.begin(automation));
    expect(first).toMatchObject({ state: 'failed', code: 'check', result: { checkExit: 1 } });
    expect(first.why).toBe('The check “npm test” ended with the exit code 1.');
    bench.clock.skip(hourMs);
    fails('b.test.ts:12 another Error\n');
    await bench.works(await bench.begin(automation));
    expect(await bench.engine.lanesOf(automation)).toMatchObject([{ stuck: null, attempts: 2 }]);
    bench.clock.skip(hourMs);
    fails('b.test.ts:99 another Error\n');
    await bench.works(await bench.begin(automation));
    const [lane] = await bench.engine.lanesOf(automation);
    expect(lane?.stuck).toContain('in the same way twice');
  });

  it('fails with its session', async () => {
    const id = await bench.begin(await bench.byHand());
    belay.sandboxes.lose(await bench.sessionOf(id), 'It was killed');
    expect(await bench.ended(id)).toMatchObject({ state: 'failed', code: 'session' });
  });

  it('is only decided about when it is dry', async () => {
    const automation = await bench.byHand();
    const dry = await bench.run(await bench.begin(automation, { dry: true }));
    expect(dry).toMatchObject({ state: 'skipped', code: 'dry', session: null });
    expect(dry.why).toContain('it would begin now');
    const whole = await bench.define({ on: { hand: true }, dry: true });
    expect(await bench.run(await bench.begin(whole))).toMatchObject({ code: 'dry' });
    expect(await bench.sessions(automation)).toEqual([]);
  });

  it('is skipped while its automation is paused', async () => {
    const automation = await bench.byHand();
    await bench.automations.setState(automation.id, 'paused', 'Paused by Ada.');
    const run = await bench.run(await bench.begin(automation));
    expect(run).toMatchObject({ state: 'skipped', code: 'paused' });
    expect(run.why).toContain('Paused by Ada.');
    await bench.automations.setState(automation.id, 'on', null);
    await bench.works(await bench.begin(automation));
  });

  it('is refused without the owner, and pauses the automation', async () => {
    const gone = { id: 'user:gone', label: 'Gone', scope: 'admin', sessions: 'all' } as const;
    const automation = await bench.define(
      { on: { hand: true } },
      { ...gone, begins: true, expires: null },
    );
    expect(await bench.run(await bench.begin(automation))).toMatchObject({ code: 'owner' });
    expect(await bench.automations.find(automation.id)).toMatchObject({ state: 'broken' });
  });

  it('fails with one sentence if its session cannot be created', async () => {
    const choose = belay.models.choose;
    belay.models.choose = () => Promise.reject(new Error('No such key.'));
    const automation = await bench.byHand({ run: { template: 'gone' } });
    const run = await bench.ended(await bench.begin(automation));
    belay.models.choose = choose;
    expect(run).toMatchObject({ state: 'failed', code: 'not-begun', spent: 0, reserved: 0 });
    expect(run.why).toContain('has no template gone');
    // Its id is kept for it, and is nothing that anybody can open.
    expect(run.session).not.toBeNull();
    expect((await bench.engine.explain(run.id)).run).toMatchObject({ session: null });
    expect(await bench.engine.history(automation)).toMatchObject([{ session: null }]);
    const shown = (await belay.app.get(AutomationViews).info(automation)).latest;
    expect(shown).toMatchObject([{ id: run.id, session: null }]);
    expect(await bench.engine.lanesOf(automation)).toMatchObject([{ running: null }]);
    const begun = await bench.begin(await bench.byHand());
    const session = await bench.sessionOf(begun);
    expect((await bench.engine.explain(begun)).run.session).toBe(session);
  });

  it('by hand needs a number where it is about an issue or a pull request', async () => {
    const on = (event: string) =>
      ({ on: { host: 'git.test', repository: 'acme/api', event } }) as never;
    const fix = await bench.define(on('issue.labelled'));
    await expect(bench.begin(fix)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('--number'),
    });
    expect(await bench.run(await bench.begin(fix, { number: 7 }))).toMatchObject({ subject: '#7' });
    const release = await bench.define(on('release.published'));
    expect(await bench.run(await bench.begin(release))).toMatchObject({ subject: 'hand' });
  });

  it('has no lane to reset but those with attempts', async () => {
    const automation = await bench.byHand();
    const reset = () => bench.engine.resetLane(automation, 'hand');
    await expect(reset()).rejects.toMatchObject({ code: 'not_found' });
    const id = await bench.begin(automation);
    await bench.sessionOf(id);
    expect(await bench.engine.lanesOf(automation)).toMatchObject([{ attempts: 1 }]);
    await reset();
    expect(await bench.engine.lanesOf(automation)).toMatchObject([{ attempts: 0 }]);
    await bench.works(id);
  });
});

describe('cancelling', () => {
  it('stops the session and frees the lane; what waits ends at once', async () => {
    const automation = await bench.byHand();
    const [first, second] = [await bench.begin(automation), await bench.begin(automation)];
    const session = await bench.sessionOf(first);
    expect(await bench.run(second)).toMatchObject({ state: 'queued' });
    const caller = { ...ownerCaller, label: 'Ada' };
    expect((await bench.engine.cancel(second, caller)).run).toMatchObject({
      state: 'cancelled',
      why: 'It was cancelled by Ada.',
    });
    await bench.engine.cancel(first, caller);
    expect(await bench.ended(first)).toMatchObject({ state: 'cancelled', code: 'cancelled' });
    expect((await belay.log.summary(session)).state).toBe('stopped');
    await expect(bench.engine.cancel(first, caller)).rejects.toMatchObject({ code: 'conflict' });
    bench.clock.skip(hourMs);
    await bench.works(await bench.begin(automation));
  });

  it('follows when its session is stopped or deleted', async () => {
    const automation = await bench.byHand();
    const id = await bench.begin(automation);
    await belay.json('POST', `/api/sessions/${await bench.sessionOf(id)}/stop`, {});
    expect(await bench.ended(id)).toMatchObject({ state: 'cancelled', code: 'stopped' });
    bench.clock.skip(hourMs);
    const next = await bench.begin(automation);
    await belay.json('DELETE', `/api/sessions/${await bench.sessionOf(next)}`);
    expect(endedWithout(await bench.ended(next))).toBe(true);
  });
});

const endedWithout = ({ state, code }: { state: string; code: string | null }): boolean =>
  ['cancelled stopped', 'failed session-removed'].includes(`${state} ${code}`);
