import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { formatDistance } from '../src/distance.js';

test('a distance has its unit', () => {
  equal(formatDistance(12400), '12400 m');
});
