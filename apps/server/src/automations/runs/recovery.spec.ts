import type { Type } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { until } from '@belay/testing';
import { SessionCreation } from '../../sessions/session-creation.js';
import { SessionService } from '../../sessions/session.service.js';
import { Outgoing } from '../out/outgoing.js';
import { onEveryDatabase } from '../../testing/databases.js';
import type { TestServer } from '../../testing/server.js';
import { RunBench } from '../testing/run-bench.js';
import { Lanes } from './lanes.js';
import { RunEnds } from './run-ends.js';
import { RunIntake } from './run-intake.js';
import { RunLoop } from './run-loop.js';
import { RunsStore } from './runs.store.js';

let bench: RunBench;
let belay: TestServer;

type Method = (...given: never[]) => Promise<unknown>;

/** Everything by which a run changes something, in its row or elsewhere. */
const acts: [Type, string][] = [
  [RunsStore, 'change'],
  [Lanes, 'queue'],
  [Lanes, 'begin'],
  [RunEnds, 'end'],
  [SessionCreation, 'create'],
  [SessionService, 'stop'],
  [Outgoing, 'planBegin'],
  [Outgoing, 'planEnd'],
  [Outgoing, 'deliver'],
];

/** Ends the server at the n-th act of this kind: nothing that it tries afterwards is done. */
class Kill {
  isDead = false;
  #count = 0;

  constructor(private readonly at: { act: string; n: number; when: 'before' | 'after' }) {
    for (const [type, name] of acts) this.#spy(type, name);
  }

  #spy(type: Type, name: string): void {
    const target = belay.app.get<Record<string, Method>>(type);
    const real = target[name]?.bind(target);
    if (!real) throw new Error(`There is no ${name}`);
    jest.spyOn(target, name).mockImplementation(async (...given: never[]) => {
      if (this.isDead) throw killed();
      const isTransaction = name === 'change' && given.length > 2;
      const isIt =
        !isTransaction && this.at.act === `${type.name}.${name}` && ++this.#count === this.at.n;
      if (isIt && this.at.when === 'before') throw this.#die();
      const result = await real(...given);
      if (isIt) throw this.#die();
      return result;
    });
  }

  #die(): Error {
    this.isDead = true;
    return killed();
  }
}

const killed = (): AppError => new AppError('unavailable', 'The server was killed.');

const points = [
  ['Lanes.queue', 1],
  ['Lanes.begin', 1],
  ['SessionCreation.create', 1],
  ['RunsStore.change', 1],
  ['RunsStore.change', 2],
  ['RunsStore.change', 3],
  ['Outgoing.planBegin', 1],
  ['Outgoing.planEnd', 1],
  ['Outgoing.deliver', 2],
  ['RunEnds.end', 1],
] as const;
const cases = points.flatMap(([act, n]) =>
  (['before', 'after'] as const).map((when) => ({ act, n, when })),
);

onEveryDatabase('a server that is killed', (databases) => {
  beforeAll(async () => {
    bench = new RunBench();
    belay = bench.belay;
    await bench.start(await databases.fresh());
  });
  afterAll(() => bench.close());

  it.each(cases)('$when $act $n leaves a run that is done once', async (at) => {
    const automation = await bench.byHand({ run: { check: 'npm test' } });
    const kill = new Kill(at);
    const [id = ''] = await takeByHand(automation.id);
    await until('it is dead', async () => {
      if (!kill.isDead) await bench.finishesIfRunning((await bench.run(id)).session);
      return kill.isDead;
    });
    await bench.restart();
    const run = await bench.completes(id);
    expect(run).toMatchObject({
      state: 'done',
      code: 'nothing',
      reserved: 0,
      result: {
        checkExit: 0,
        changedFiles: 1,
      },
    });
    const sessions = await bench.sessions(automation);
    expect(sessions).toEqual([run.session]);
    expect(belay.sandboxes.starts.filter(({ session }) => session === run.session)).toHaveLength(1);
    // Between its change and its entry, as for users, an entry is lost.
    const isLost = at.act === 'RunsStore.change' && at.n === 1 && at.when === 'after';
    const begun = (await bench.audited(automation)).filter(
      ({ action }) => action === 'sessions.create',
    );
    expect(begun.map((entry) => entry.session)).toEqual(isLost ? [] : [run.session]);
    const rows = await bench.kysely
      .selectFrom('automation_run')
      .select('id')
      .where('automation', '=', automation.id)
      .execute();
    expect(rows).toEqual([{ id }]);
    const [lane] = await bench.kysely
      .selectFrom('automation_lane')
      .selectAll()
      .where('automation', '=', automation.id)
      .execute();
    expect(lane).toMatchObject({ running: null, stuck: null });
    expect(bench.waiting).toBe(0);
  });

  it.each(['before', 'after'] as const)(
    '%s it stopped the session of a run that was cancelled stops it again',
    async (when) => {
      const automation = await bench.byHand();
      const [id = ''] = await takeByHand(automation.id);
      const session = await bench.sessionOf(id);
      const kill = new Kill({ act: 'SessionService.stop', n: 1, when });
      await bench.engine.cancel(id, { label: 'Ada' } as never);
      await until('it is dead', () => kill.isDead);
      await bench.restart();
      expect(await bench.ended(id)).toMatchObject({ state: 'cancelled', code: 'cancelled' });
      expect((await belay.log.summary(session)).state).toBe('stopped');
    },
  );

  it('goes on with what waits: another server’s run of the lane ends first', async () => {
    const automation = await bench.byHand();
    const [first = ''] = await takeByHand(automation.id);
    await bench.sessionOf(first);
    const [second = ''] = await takeByHand(automation.id);
    await bench.reaches(second, 'queued');
    await bench.restart();
    expect((await bench.run(second)).state).toBe('queued');
    await bench.works(first);
    bench.clock.skip(2_000);
    await bench.works(second);
  });

  it('two servers begin a run once, and one run of a lane', async () => {
    const automation = await bench.byHand();
    const lanes = belay.app.get(Lanes);
    const begin = jest.spyOn(lanes, 'begin').mockResolvedValue({ changed: false, until: null });
    const [first = ''] = await takeByHand(automation.id);
    const [second = ''] = await takeByHand(automation.id);
    const both = [await bench.reaches(first, 'queued'), await bench.reaches(second, 'queued')];
    begin.mockRestore();
    const [one, other] = both;
    if (!one || !other) throw new Error('There are two.');
    const began = await Promise.all([
      lanes.begin(one),
      lanes.begin(one),
      lanes.begin(other),
      lanes.begin(other),
    ]);
    expect(began.filter(({ changed }) => changed)).toHaveLength(1);
    expect(await bench.engine.lanesOf(automation)).toMatchObject([{ running: first, attempts: 1 }]);
    belay.app.get(RunLoop).wake();
    await bench.works(first);
    bench.clock.skip(2_000);
    await bench.works(second);
  });
});

let keys = 0;
/** A new run, without waiting for what is decided about it. */
async function takeByHand(automation: string): Promise<string[]> {
  const at = bench.clock.now().toISOString();
  const key = `hand:${++keys}`;
  const occurrence = { event: 'hand', key, at, actor: null } as const;
  return belay.app.get(RunIntake).take({ id: key, source: automation, occurrence });
}
