/**
 * Whether the running file is one of those that `npm run test:long` runs. `x.long.spec.ts` is the
 * whole of what `x.spec.ts` samples: it imports that file, whose tests ask here what to leave out.
 */
const isLong = (): boolean => /\.long\.\w+\.tsx?$/.test(expect.getState().testPath ?? '');

/** A test that takes long and rarely fails: it is left out where `npm test` runs the file. */
export function itLong(name: string, test: () => Promise<void>): void {
  if (isLong()) it(name, test);
}

/** All rows of a table of tests in the long run, otherwise the first `count` of them. */
export function sampled<const Row>(count: number, rows: readonly Row[]): Row[] {
  return isLong() ? [...rows] : rows.slice(0, count);
}
