import { mostCrowded } from './most-crowded.js';

it.each([
  ['a1 b1 b2', 'b1'],
  ['a1 b1 b2 c1 c2 c3', 'c1'],
  ['a1 b1', 'a1'],
  ['', undefined],
])('of %j, %j makes way', (entries, first) => {
  expect(mostCrowded(entries.split(' ').filter(Boolean), ([owner = '']) => owner)).toBe(first);
});
