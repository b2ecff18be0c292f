import { eventFields } from './automation-events.js';
import { assertLaneKey, laneKeyOf } from './lane-key.js';

const fields = eventFields['pull.updated'];

describe('a lane key', () => {
  it('has the values of its fields', () => {
    const values = { number: 12, branch: 'main', draft: false, user: '', subject: '#12' };
    expect(laneKeyOf('pr:{number} {branch} {draft}', values)).toBe('pr:12 main false');
    expect(laneKeyOf('{user}/{sha}/{subject}', values)).toBe('-/-/#12');
    expect(laneKeyOf('{labels}{constructor}', { labels: ['a'] })).toBe('--');
  });

  it('keeps long values apart, and stays short', () => {
    const keys = ['a', 'b'].map((end) => laneKeyOf('{branch}', { branch: 'x'.repeat(300) + end }));
    expect(new Set(keys).size).toBe(2);
    expect(keys.every((key) => key.length <= 60)).toBe(true);
    const whole = laneKeyOf('{branch}'.repeat(20), { branch: 'x'.repeat(300) });
    expect(whole.length).toBeLessThanOrEqual(200);
    expect(laneKeyOf('{branch}', { branch: 'x'.repeat(60) })).toBe('x'.repeat(60));
  });

  it('does not read fields in values', () => {
    expect(laneKeyOf('{branch}', { branch: '{user}', user: 'ada' })).toBe('{user}');
  });

  it('names only fields that the event has', () => {
    expect(() => assertLaneKey('{subject} {number}', fields)).not.toThrow();
    expect(() => assertLaneKey('belay/{subject}-{salt}', fields, { more: ['salt'] })).not.toThrow();
    expect(() => assertLaneKey('{any.path}', null)).not.toThrow();
    expect(() => assertLaneKey('{salt}', fields, { event: 'pull.updated' })).toThrow(
      /^pull.updated has no field salt; it has author, .*subject/,
    );
    expect(() => assertLaneKey('{constructor}', fields)).toThrow(/no field constructor/);
    expect(() => assertLaneKey('{labels}', fields)).toThrow(/labels is a list/);
    expect(() => assertLaneKey('{number', fields)).toThrow(/brace is not closed/);
    expect(() => assertLaneKey('{}', null)).toThrow(/no field {}/);
  });
});
