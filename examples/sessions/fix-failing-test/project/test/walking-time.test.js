import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routes } from '../src/routes.js';
import { formatDuration, walkingMinutes } from '../src/walking-time.js';

test('an hour for every five kilometres', () => {
  assert.equal(walkingMinutes({ kilometres: 10, ascent: 0 }), 120);
});

test('an hour for every 600 metres of ascent', () => {
  assert.equal(walkingMinutes({ kilometres: 0, ascent: 900 }), 90);
});

test('short walks are told in minutes', () => {
  assert.equal(formatDuration(44.6), '45 min');
});

test('longer walks are told in hours and minutes', () => {
  assert.equal(formatDuration(125), '2 h 5 min');
});

test('minutes never reach sixty', () => {
  assert.equal(formatDuration(59.7), '1 h 0 min');
  assert.equal(formatDuration(119.7), '2 h 0 min');
});

test('no route of the guide takes sixty minutes past the hour', () => {
  for (const route of routes) assert.doesNotMatch(formatDuration(walkingMinutes(route)), / 60 min/);
});
