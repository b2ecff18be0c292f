import { activityAt, countedActivity, noActivity } from './activity.js';

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000).toISOString();
const counted = (...seconds: number[]) =>
  seconds.reduce((known, each) => countedActivity(known, at(each)), noActivity);

describe('activity', () => {
  it('counts events per five seconds, the latest last', () => {
    const { counts } = counted(0, 1, 4.9, 5, 14);
    expect(counts.slice(-3)).toEqual([3, 1, 1]);
  });

  it('moves on while nothing happens, and forgets what is two minutes old', () => {
    const known = counted(0, 1);
    expect(activityAt(known, Date.parse(at(10))).slice(-3)).toEqual([2, 0, 0]);
    expect(activityAt(known, Date.parse(at(119))).at(0)).toBe(2);
    expect(activityAt(known, Date.parse(at(120))).every((count) => count === 0)).toBe(true);
    expect(activityAt(known, Date.parse(at(1e6)))).toHaveLength(24);
  });

  it('counts events as the latest when the clock went back', () => {
    expect(counted(20, 0).counts.at(-1)).toBe(2);
  });
});
