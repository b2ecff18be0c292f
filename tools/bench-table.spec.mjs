import { benchTable, judge, percentile } from './bench-table.mjs';

describe('the verdict on a figure', () => {
  it.each([
    [{ value: 60, most: 60 }, true],
    [{ value: 61, most: 60 }, false],
    [{ value: 20, least: 20 }, true],
    [{ value: 19, least: 20 }, false],
    [{ value: 12, floor: 10, mostRatio: 1.2 }, true],
    [{ value: 13, floor: 10, mostRatio: 1.2 }, false],
    [{ value: 6, floor: 10, leastRatio: 0.6 }, true],
    [{ value: 5, floor: 10, leastRatio: 0.6 }, false],
    [{ value: 5, leastRatio: 0.6 }, false],
  ])('of %j is %s', (row, good) => {
    expect(judge({ what: 'x', unit: 'ms', ...row }).good).toBe(good);
  });
});

it('prints one aligned table with what could not be measured', () => {
  const rows = [
    { target: 1, ...judge({ what: 'warm start p50', value: 41.26, unit: 'ms', most: 60 }) },
    { target: 17, ...judge({ what: 'overhead', value: 3, floor: 2, unit: 's', mostRatio: 1.2 }) },
    { target: 7, what: 'flood', failed: 'no browser\nat x', good: false },
  ];
  expect(benchTable(rows).split('\n')).toEqual([
    '#   what            figure   floor  ratio   allowed   verdict',
    '──  ──────────────  ───────  ─────  ──────  ────────  ────────────────────────',
    '1   warm start p50  41.3 ms                 ≤ 60 ms   good',
    '17  overhead        3 s      2 s    1.50 ×  ≤ 1.20 ×  MISSED',
    '7   flood                                             not measured: no browser',
  ]);
});

it('takes percentiles from samples in any order', () => {
  const samples = [5, 1, 4, 2, 3, 10, 9, 8, 7, 6];
  expect(percentile(samples, 0.5)).toBe(5);
  expect(percentile(samples, 0.95)).toBe(10);
  expect(percentile([7], 0.95)).toBe(7);
});
