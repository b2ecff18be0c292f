import { existsSync } from 'node:fs';
import SlowestFirst, { slowest } from './slowest-first.cjs';
import { root } from './product-node.mjs';

const test = (path, size) => ({
  path: `/repository/${path}`,
  context: { config: { cache: false }, hasteFS: { getSize: () => size } },
});

it('starts the slowest files first, then the largest ones', () => {
  const [first, second] = slowest;
  const tests = [test('a.spec.ts', 1), test(second, 2), test('b.spec.ts', 9), test(first, 1)];
  const order = new SlowestFirst({}).sort(tests).map(({ path }) => path);
  expect(order).toEqual(
    [first, second, 'b.spec.ts', 'a.spec.ts'].map((path) => `/repository/${path}`),
  );
});

it.each(slowest)('%s exists', (file) => {
  expect(existsSync(`${root}/${file}`)).toBe(true);
});
