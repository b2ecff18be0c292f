import type { Sample } from './sample.ts';
import { loadFaults, slope, type LoadOutcome } from './verdict.ts';

const idle: Sample = { seconds: 0, megabytes: 100, descriptors: 40, sockets: 20, containers: 0 };
/** A sample every 5 seconds for 10 minutes, with the sawtooth of a garbage collector. */
const samples = (megabytes: (seconds: number) => number): Sample[] =>
  Array.from({ length: 120 }, (_, index) => {
    const seconds = index * 5;
    return { ...idle, seconds, megabytes: megabytes(seconds) + (index % 7) * 6, containers: 50 };
  });
const good: LoadOutcome = {
  samples: samples(() => 200),
  before: idle,
  after: { ...idle, descriptors: 43, sockets: 22 },
  sessions: 300,
  views: 600,
  failures: [],
};

describe('the verdict on a run under load', () => {
  it('treats fluctuating memory, and growth during the warm-up, as flat', () => {
    expect(loadFaults(good)).toEqual([]);
    const warming = samples((seconds) => 200 - 120 * Math.exp(-seconds / 60));
    expect(loadFaults({ ...good, samples: warming })).toEqual([]);
  });

  it('finds memory that grows slowly but steadily', () => {
    const [fault, ...more] = loadFaults({
      ...good,
      samples: samples((seconds) => 200 + seconds / 12),
    });
    expect(fault).toMatch(/^The server's memory grew by 3\d MB in 6\.\d minutes, and 2\d MB would/);
    expect(more).toEqual([]);
  });

  it('is not misled by a spike', () => {
    const spiky = samples(() => 200);
    expect(slope(spiky.with(-1, { ...spiky[119]!, megabytes: 900 }))).toBeCloseTo(slope(spiky), 2);
  });

  it.each([
    ['descriptors', { descriptors: 90 }, /40 descriptors open before the load and has 90 after/],
    ['sockets', { sockets: 60 }, /20 sockets open before the load and has 60 after/],
    ['containers', { containers: 3 }, /^3 containers are left/],
  ])('finds leftover %s', (_, left, sentence) => {
    expect(loadFaults({ ...good, after: { ...good.after, ...left } })).toEqual([
      expect.stringMatching(sentence),
    ]);
  });

  it('is bad when nothing was measured or a session failed', () => {
    expect(loadFaults({ ...good, sessions: 0 })).toHaveLength(1);
    expect(loadFaults({ ...good, samples: samples(() => 200).slice(0, 4) })).toHaveLength(1);
    expect(loadFaults({ ...good, failures: ['Session 1 failed.'] })).toEqual(['Session 1 failed.']);
  });
});
