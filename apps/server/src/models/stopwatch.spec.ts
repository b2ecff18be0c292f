import { fact, type NewEvent, type SessionState } from '@belay/protocol';
import { TestLogs } from '../testing/logs.js';
import { Stopwatch } from './stopwatch.js';

describe('the stopwatch', () => {
  it('counts from the start, without the time between an end and the next beginning', async () => {
    const logs = await new TestLogs().open();
    await logs.session('s');
    const hoursAgo = (hours: number, event: NewEvent) => ({
      ...event,
      time: new Date(Date.now() - hours * 3_600_000).toISOString(),
    });
    const state = (name: SessionState) =>
      fact('server', 'state', { args: { state: name, reason: null }, message: name });
    const settings = await logs.log.settings('s');
    const again = fact('user', 'start', { args: { ...settings, again: true }, message: 'Again' });
    const read = (events: NewEvent[]) => {
      const log = { read: () => Promise.resolve(events.map((event, seq) => ({ ...event, seq }))) };
      return new Stopwatch(log as never, 's').seconds();
    };
    const begun = [hoursAgo(10, again), hoursAgo(10, state('running'))];
    expect(await read(begun)).toBeCloseTo(36_000, -1);
    const paused = [...begun, hoursAgo(9, state('paused')), hoursAgo(8, state('running'))];
    expect(await read(paused)).toBeCloseTo(36_000, -1);
    const ended = [...begun, hoursAgo(9, state('finished'))];
    expect(await read(ended)).toBeCloseTo(3_600, -1);
    expect(await read([...ended, hoursAgo(1, again)])).toBeCloseTo(7_200, -1);
    const fork = fact('server', 'fork', { args: { session: 't', seq: 3 }, message: 'Forked' });
    expect(await read([...ended, hoursAgo(1, fork), hoursAgo(1, again)])).toBeCloseTo(3_600, -1);
    await logs.close();
  });
});
