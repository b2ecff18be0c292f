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

const hooks = ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'] as const;
const { describe, it, test, beforeAll, beforeEach, afterEach, afterAll } = globalThis;
const jests = { describe, it, test, beforeAll, beforeEach, afterEach, afterAll };
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
  if (extent !== 'ordinary') counted(it)(name, test as never);
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
    each: (rows: Rows) => (rows instanceof RestOfRows ? counted(it.each(rows)) : () => undefined),
  }),
  describe: Object.assign(
    (name: string, tests: () => void) => describe(name, () => withHooksIfAny(tests)),
    {
      each: (rows: Rows) => (name: string, tests: Tests) => {
        const ofRest = (some: Rows) =>
          describe.each(some)(name, (...row: unknown[]) =>
            during('rest', () => withHooksIfAny(() => tests(...row))),
          );
        if (!(rows instanceof RestOfRows)) return ofRest(rows);
        if (rows.ordinary.length > 0) ofRest(rows.ordinary);
        count += 1;
        describe.each(rows)(name, (...row: unknown[]) => during('whole', () => tests(...row)));
      },
    },
  ),
};

/** The number of tests that were added while only the rest is wanted; a table, or a part as a whole, is one. */
let count = 0;

const counted =
  (add: (name: string, test: never) => void) =>
  (name: string, test: never): void => {
    count += 1;
    add(name, test);
  };

/** Runs the body of a `describe`; its hooks are added only if it has tests, because Jest refuses those of no test. */
function withHooksIfAny(tests: () => unknown): void {
  const before = count;
  const kept: (() => void)[] = [];
  const outer = Object.fromEntries(hooks.map((name) => [name, globalThis[name]]));
  for (const name of hooks)
    Object.assign(globalThis, {
      [name]: (...hook: [never]) => void kept.push(() => jests[name](...hook)),
    });
  try {
    tests();
  } finally {
    Object.assign(globalThis, outer);
  }
  if (count > before) for (const add of kept) add();
}

function during(next: Extent, load: () => unknown): void {
  const before = extent;
  const names = ['describe', 'it', 'test', ...hooks] as const;
  const globals = Object.fromEntries(names.map((name) => [name, globalThis[name]]));
  extent = next;
  Object.assign(globalThis, jests, next === 'rest' && { ...rest, test: rest.it });
  try {
    load();
  } finally {
    extent = before;
    Object.assign(globalThis, globals);
  }
}
