import { assertNode } from './machine.mjs';

it('runs on the Node that Debian 12 brings, and says which it needs on an older one', () => {
  expect(() => assertNode('v18.19.0')).not.toThrow();
  expect(() => assertNode('v16.20.2')).toThrow(/needs Node 18 or newer, and this is v16\.20\.2/);
});
