import type { Event } from '@belay/protocol';
import { viewOf } from './log-view';
import { PastViews } from './past-views';

const log = Array.from({ length: 6_500 }, (_, index): Event => {
  const event = { seq: index + 1, time: '2026-01-01T00:00:00.000Z', source: 'agent' as const };
  const id = `call-${Math.floor(index / 2)}`;
  return index % 2
    ? { ...event, id, action: 'result', args: { ok: true, output: {}, seconds: 1 }, message: '' }
    : { ...event, id, action: 'files.read', args: {}, message: '' };
});

describe('PastViews', () => {
  it('returns the same view as folding the log up to any moment, forward and back', () => {
    const views = new PastViews();
    for (const count of [6_500, 10, 0, 4_001, 2_000, 1_999, 6_000]) {
      const whole = viewOf(log.slice(0, count));
      const { results, ...shown } = views.of(log, count);
      const { results: wholeResults, ...rest } = whole;
      expect(shown).toEqual(rest);
      for (const id of ['call-0', 'call-999', 'call-2000', 'call-3249'])
        expect(results.get(id)).toBe(wholeResults.get(id));
    }
  });

  it('does not cache a moment whose events are still to come', () => {
    const views = new PastViews();
    views.of(log.slice(0, 3_000), 4_500);
    expect(views.of(log, 4_500).entries).toEqual(viewOf(log.slice(0, 4_500)).entries);
  });

  it('starts over when older events are added', () => {
    const views = new PastViews();
    views.of(log.slice(3_000), 3_000);
    expect(views.of(log, 4_500).entries).toEqual(viewOf(log.slice(0, 4_500)).entries);
  });
});
