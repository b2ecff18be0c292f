import { itLong } from '@belay/testing';
import { alwaysOnEveryDatabase } from '../../testing/databases.js';
import { Schedules, staggerMs } from './schedules.js';
import { TriggerScene } from './testing/trigger-scene.js';

const day = 86_400_000;

alwaysOnEveryDatabase('schedules', (databases) => {
  let scene: TriggerScene;
  let schedules: Schedules;
  const start = async () => {
    schedules = new Schedules(scene.automations, scene.deliveries, scene.clock);
    await schedules.onLead();
  };
  const settled = () => schedules.drained();
  beforeEach(async () => {
    scene = await new TriggerScene(databases).open();
  });
  afterEach(async () => {
    await schedules.onApplicationShutdown();
    await scene.close();
  });

  const daily = (more: object = {}) =>
    scene.automation({ schedule: '30 2 * * *', zone: 'Europe/Berlin', ...more });
  const begun = () => scene.taken.map(({ occurrence }) => occurrence.at);

  it('begins each day of a month once, at the local time of its zone', async () => {
    await daily();
    await start();
    await scene.clock.forward(31 * day, settled);
    const times = begun();
    expect(new Set(times).size).toBe(31);
    expect(await scene.stored()).toHaveLength(31);
    expect(times[0]).toBe('2026-03-02T01:30:00.000Z');
    // Daylight saving leaves out the time of this day.
    expect(times.filter((time) => time.startsWith('2026-03-29'))).toHaveLength(1);
  });

  itLong('begins each day of a year once', async () => {
    await daily();
    await start();
    await scene.clock.forward(365 * day, settled);
    const rows = await scene.stored();
    expect(rows).toHaveLength(365);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['done']));
    const times = begun();
    expect(new Set(times).size).toBe(365);
    // Winter, summer, and winter again.
    expect(times).toContain('2026-03-02T01:30:00.000Z');
    expect(times).toContain('2026-07-01T00:30:00.000Z');
    expect(times).toContain('2026-12-01T01:30:00.000Z');
    // The times that daylight saving leaves out and repeats.
    expect(times.filter((time) => time.startsWith('2026-10-25'))).toHaveLength(1);
    expect(times.filter((time) => time.startsWith('2026-03-29'))).toHaveLength(1);
  });

  it('begins at a second of its own', async () => {
    const { id } = await daily();
    await start();
    const time = Date.parse('2026-03-02T01:30:00Z') + staggerMs(id);
    await scene.clock.to(new Date(time - 1), settled);
    expect(begun()).toEqual([]);
    await scene.clock.to(new Date(time), settled);
    expect(begun()).toEqual(['2026-03-02T01:30:00.000Z']);
    const staggers = Array.from({ length: 200 }, (_, at) => staggerMs(`automation-${at}`));
    expect(Math.max(...staggers)).toBeLessThan(60_000);
    expect(new Set(staggers).size).toBeGreaterThan(40);
  });

  it('tells what it missed as one row, and begins nothing that is too late', async () => {
    const { id } = await daily();
    await start();
    await schedules.onApplicationShutdown();
    scene.clock.jump(10 * day);
    await start();
    await scene.clock.forward(0, settled);
    expect(begun()).toEqual([]);
    expect(await scene.stored()).toEqual([
      {
        delivery: `schedule:${id}:2026-03-02T01:30:00.000Z:missed`,
        state: 'ignored',
        key: null,
        why: 'Missed (10): the server did not run at 2026-03-02T01:30:00.000Z, and it is too late now.',
      },
    ]);
    await scene.clock.forward(day, settled);
    expect(begun()).toEqual(['2026-03-12T01:30:00.000Z']);
  });

  it('begins the newest missed one if it is not too late', async () => {
    await daily({ late: '4h' });
    await start();
    await schedules.onApplicationShutdown();
    // Three hours after the third time.
    scene.clock.jump(2 * day + 16.5 * 3_600_000);
    await start();
    await scene.clock.forward(0, settled);
    expect(begun()).toEqual(['2026-03-04T01:30:00.000Z']);
    const [missed, run, ...rest] = await scene.stored();
    expect(missed?.why).toContain('Missed (2)');
    expect(run?.state).toBe('done');
    expect(rest).toEqual([]);
  });

  it('runs each time once on two servers', async () => {
    await daily();
    await start();
    const other = new Schedules(scene.automations, scene.deliveries, scene.clock);
    await other.onLead();
    await scene.clock.forward(3 * day, async () => {
      await settled();
      await other.drained();
    });
    expect(begun()).toHaveLength(3);
    await other.onApplicationShutdown();
  });

  it('neither runs nor misses anything while it is paused', async () => {
    const { id } = await daily();
    await start();
    await scene.automations.setState(id, 'paused', null);
    await scene.clock.forward(5 * day, settled);
    expect(await scene.stored()).toEqual([]);
    await scene.automations.setState(id, 'on', null);
    await settled();
    await scene.clock.forward(day, settled);
    expect(begun()).toEqual(['2026-03-07T01:30:00.000Z']);
  });

  it('follows a changed schedule from then on', async () => {
    await daily();
    await start();
    await daily({ schedule: '0 18 * * *', zone: 'UTC' });
    await settled();
    await scene.clock.forward(day, settled);
    expect(begun()).toEqual(['2026-03-01T18:00:00.000Z']);
  });
});
