import { percentile } from './bench/statistics.ts';
import { benchTable, judgeRow } from './bench-table.ts';

describe('the verdict on a figure', () => {
  it.each([
    [{ figure: 60, target: 60 }, true],
    [{ figure: 61, target: 60 }, false],
    [{ figure: 20, target: 20, atLeast: true }, true],
    [{ figure: 19, target: 20, atLeast: true }, false],
    [{ figure: 900, target: null }, true],
    [{ figure: NaN, target: 60 }, false],
  ])('of %j is %s', (row, good) => {
    expect(judgeRow({ what: 'x', unit: 'ms', ...row }).good).toBe(good);
  });

  it('has the ratio to the floor of the same run', () => {
    expect(judgeRow({ what: 'x', figure: 3, floor: 2, unit: 's', target: 4 }).ratio).toBe(1.5);
  });
});

it('prints one aligned table, with what could not be measured', () => {
  const measurements = [
    {
      number: 1,
      title: 'warm start: the title may be long',
      rows: [
        judgeRow({ what: 'p50', figure: 41.26, unit: 'ms', target: 60, floor: 300 }),
        judgeRow({ what: 'p95', figure: 161, unit: 'ms', target: 150 }),
      ],
    },
    { number: 17, title: 'flood', failed: 'no browser' },
    {
      number: 18,
      title: 'speed',
      rows: [judgeRow({ what: 'speed', figure: 25, unit: 'MB/s', target: 20, atLeast: true })],
    },
  ];
  expect(benchTable(measurements)).toBe(
    `
#   what     figure   floor   ratio   target     verdict
──  ───────  ───────  ──────  ──────  ─────────  ────────────────────────
1   warm start: the title may be long
      p50    41.3 ms  300 ms  0.14 ×  ≤ 60 ms    good
      p95    161 ms                   ≤ 150 ms   MISSED
17  flood                                        not measured: no browser
18  speed
      speed  25 MB/s                  ≥ 20 MB/s  good
`.trim(),
  );
});

it('takes percentiles from samples in any order', () => {
  const samples = [5, 1, 4, 2, 3, 10, 9, 8, 7, 6];
  expect(percentile(samples, 0.5)).toBe(5);
  expect(percentile(samples, 0.95)).toBe(10);
  expect(percentile([7], 0.95)).toBe(7);
});
