import { compareTrials } from './compare.js';
import type { Validity } from './validity.js';
import type { Trial } from './model.js';
import {
  pairedDifference,
  passAtEveryK,
  passAtK,
  randomSample,
  signTest,
  wilson,
} from './statistics.js';

it('pass@k is unbiased: the figures of five samples with 1, 3, 5 and 0 correct', () => {
  const problems = [1, 3, 5, 0].map((c) => ({ n: 5, c }));
  expect(passAtEveryK(problems)).toEqual({
    'pass@1': 0.45,
    'pass@2': 0.575,
    'pass@3': 0.65,
    'pass@4': 0.7,
    'pass@5': 0.75,
  });
  expect(passAtK(6, 3, 2)).toBeCloseTo(1 - 3 / 15);
});

it('pass@k is reported up to the fewest samples, and not when a problem was never tried', () => {
  expect(
    Object.keys(
      passAtEveryK([
        { n: 3, c: 1 },
        { n: 2, c: 2 },
      ]),
    ),
  ).toEqual(['pass@1', 'pass@2']);
  expect(
    passAtEveryK([
      { n: 3, c: 1 },
      { n: 0, c: 0 },
    ]),
  ).toEqual({});
});

it('Wilson’s interval is correct at the extremes', () => {
  expect(wilson(0, 10)[0]).toBe(0);
  expect(wilson(0, 10)[1]).toBeCloseTo(0.2775, 3);
  expect(wilson(5, 10)[0]).toBeCloseTo(0.2366, 3);
  expect(wilson(10, 10)).toEqual([expect.closeTo(0.7225, 3), expect.closeTo(1)]);
});

it('a sample depends on its seed, keeps the order and repeats nothing', () => {
  const all = Array.from({ length: 50 }, (_, index) => index);
  const ten = randomSample(all, 10, 7);
  expect(randomSample(all, 10, 7)).toEqual(ten);
  expect(randomSample(all, 10, 8)).not.toEqual(ten);
  expect(new Set(ten).size).toBe(10);
  expect(ten).toEqual(ten.toSorted((a, b) => a - b));
});

it('the exact sign test', () => {
  expect(signTest(0, 0)).toBe(1);
  expect(signTest(5, 0)).toBeCloseTo(2 / 32);
  expect(signTest(3, 3)).toBe(1);
});

describe('the interval of a difference of pairs', () => {
  const close = (...interval: number[]) => interval.map((each) => expect.closeTo(each, 3));
  const split = (won: number, lost: number, all: number) =>
    Array.from({ length: all }, (_, at) => (at < won ? 1 : at < won + lost ? -1 : 0));

  it('is that of the won and lost shares', () => {
    expect(pairedDifference(split(10, 5, 100))).toEqual({
      mean: expect.closeTo(0.05),
      interval: close(-0.029, 0.1316),
    });
    const { interval } = pairedDifference(split(100, 50, 1000));
    expect(interval).toEqual(close(0.0262, 0.0742));
  });

  it('has a width where all pairs are equal, which shrinks with their number', () => {
    expect(pairedDifference([0, 0, 0, 0]).interval).toEqual(close(-0.4899, 0.4899));
    expect(pairedDifference(split(0, 30, 30)).interval).toEqual(close(-1, -0.8394));
    expect(pairedDifference([1]).interval[0]).toBeLessThan(0);
    expect(pairedDifference(split(0, 0, 1000)).interval[1]).toBeLessThan(0.004);
  });

  it('is never narrower for parts than it must be, and covers everything without pairs', () => {
    const [low, high] = pairedDifference([0.5, -0.5, 0.5, 0]).interval;
    expect(low).toBeLessThan(0.125);
    expect(high).toBeGreaterThan(0.125);
    expect(pairedDifference([]).interval).toEqual([-1, 1]);
    expect(pairedDifference(split(1, 1, 2)).interval).toEqual(
      [-1, 1].map(() => expect.any(Number)),
    );
  });
});

it('a comparison covers the tasks that both runs have', () => {
  const trial = (task: string, reward: number) => ({ task, verdict: { reward } }) as Trial;
  const a = [trial('x', 0), trial('x', 1), trial('y', 1), trial('only a', 1)];
  const b = [trial('x', 1), trial('y', 0), trial('only b', 0)];
  const none = { validity: null };
  expect(compareTrials({ trials: a, ...none }, { trials: b, ...none })).toMatchObject({
    tasks: 2,
    a: 0.75,
    b: 0.5,
    difference: -0.25,
    better: ['x'],
    worse: ['y'],
    validity: { checked: 0, flagged: [] },
    unflagged: null,
  });
  const flagged = (task: string): Validity[] => [
    { task, valid: false, nop: 'pass', oracle: 'pass', why: 'Doing nothing passes.' },
  ];
  const checked = compareTrials(
    { trials: a, validity: flagged('y') },
    { trials: b, validity: flagged('only b') },
  );
  expect(checked).toMatchObject({
    difference: -0.25,
    validity: { checked: 1, flagged: ['y'] },
    unflagged: { tasks: 1, difference: 0.5 },
  });
});
