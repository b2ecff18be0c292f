import { join } from 'node:path';
import { root } from './product-node.mjs';
import resolveSources from './resolve-sources.cjs';

const rpc = join(root, 'libs/rpc/src');
const resolved = (name, basedir) =>
  resolveSources(name, { basedir, defaultResolver: (left) => `left: ${left}` });

it.each([
  ['./server.js', rpc, 'libs/rpc/src/server.ts'],
  ['../server.js', join(rpc, 'testing'), 'libs/rpc/src/server.ts'],
  ['@belay/rpc', join(root, 'apps/agent/src'), 'libs/rpc/src/index.ts'],
  ['@belay/evaluation', join(root, 'apps/cli/src'), 'evaluation/src/index.ts'],
  ['@/lib/role', join(root, 'apps/web/src/app'), 'apps/web/src/lib/role.ts'],
])('%s is our own TypeScript', (name, folder, file) => {
  expect(resolved(name, folder)).toBe(join(root, file));
});

it.each([
  ['zod', rpc],
  ['./server.js', join(root, 'node_modules/zod')],
])('%s in %s is left to Jest', (name, folder) => {
  expect(resolved(name, folder)).toBe(`left: ${name}`);
});

it('leaves a file that is not TypeScript to Jest', () => {
  expect(resolved('./none.js', rpc)).toBe(`left: ${join(rpc, 'none.js')}`);
});
