type Tests = (...row: unknown[]) => unknown;
type Rows = readonly unknown[];

/**
 * What a file of tests runs: its ordinary tests for `npm test`, what those leave out, or both. A part that is left out
 * as a whole, such as another database, has both in the long run.
 */
type Extent = 'ordinary' | 'rest' | 'whole';

/** The rows of a table that the ordinary run leaves out, also once they are mapped or filtered. */
class RestOfRows<Row> extends Array<Row> {
  ordinary: readonly Row[] = [];
}

const { describe, it } = globalThis;
let extent: Extent = 'ordinary';

/**
 * Loads a file of tests, and runs those that `npm test` leaves out of it: `x.long.spec.ts` has the long tests of
 * `x.spec.ts`, whose set-up they share. There they are marked by `itLong` and `sampled`.
 */
export function longTestsOf(load: () => unknown): void {
  during('rest', load);
}

/** A test that takes long and rarely fails: `npm test` leaves it out. */
export function itLong(name: string, test: () => Promise<void>): void {
  if (extent !== 'ordinary') it(name, test);
}

/** The first rows of a table of tests, and in the long run the others; for `it.each` and `describe.each`. */
export function sampled<const Row>(count: number, rows: readonly Row[]): Row[] {
  if (extent === 'whole') return [...rows];
  const ordinary = rows.slice(0, count);
  if (extent === 'ordinary') return ordinary;
  return Object.assign(RestOfRows.from(rows.slice(count)), { ordinary });
}

/** In the place of Jest’s functions while only the rest is wanted; another use of them than these is an error. */
const rest = {
  it: Object.assign(() => undefined, {
    each: (rows: Rows) => (rows instanceof RestOfRows ? it.each(rows) : () => undefined),
  }),
  describe: Object.assign((name: string, tests: () => void) => describe(name, tests), {
    each: (rows: Rows) => (name: string, tests: Tests) => {
      const each = (some: Rows, run: Extent) =>
        describe.each(some)(name, (...row: unknown[]) => during(run, () => tests(...row)));
      if (!(rows instanceof RestOfRows)) return each(rows, 'rest');
      if (rows.ordinary.length > 0) each(rows.ordinary, 'rest');
      each(rows, 'whole');
    },
  }),
};

function during(next: Extent, load: () => unknown): void {
  const before = extent;
  const globals = { describe: globalThis.describe, it: globalThis.it, test: globalThis.test };
  extent = next;
  Object.assign(
    globalThis,
    next === 'rest' ? { ...rest, test: rest.it } : { describe, it, test: it },
  );
  try {
    load();
  } finally {
    extent = before;
    Object.assign(globalThis, globals);
  }
}
