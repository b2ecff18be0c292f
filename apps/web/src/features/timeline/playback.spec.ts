import type { Event } from '@belay/protocol';
import { eventAfter, stepFrom } from './playback';

const log = [0, 1_000, 1_500, 61_500, 61_600].map((time, index): Event => ({
  seq: index + 1,
  time: new Date(time).toISOString(),
  source: 'agent',
  action: 'say',
  args: {},
  message: '',
}));
const play = (elapsed: number, speed = 1, from = 1) => eventAfter(log, from, { elapsed, speed });

describe('eventAfter', () => {
  it('follows the pace of the log', () => {
    expect([play(0), play(999), play(1_000), play(1_500)]).toEqual([1, 1, 2, 3]);
  });

  it('shortens a long wait to two seconds', () => {
    expect([play(3_499), play(3_500)]).toEqual([3, 4]);
  });

  it('supports other speeds and stops at the end', () => {
    expect(play(100, 10)).toBe(2);
    expect(play(1_000_000)).toBe(5);
    expect(play(0, 1, 5)).toBe(5);
  });
});

it('finds the previous and next step', () => {
  const marks = [
    { seq: 2, kind: 'step' },
    { seq: 4, kind: 'edit' },
    { seq: 6, kind: 'step' },
  ];
  expect(stepFrom(marks, 4, 1)).toBe(6);
  expect(stepFrom(marks, 4, -1)).toBe(2);
  expect(stepFrom(marks, 6, 1)).toBeNull();
});
