import { scheduleWords } from './schedule-words.js';

describe('a schedule in words', () => {
  it.each([
    ['30 2 * * 1-5', 'at 02:30 from Monday to Friday (UTC)'],
    ['0 9,17 * * *', 'at 09:00 and 17:00 (UTC)'],
    ['*/15 * * * *', 'every 15 minutes (UTC)'],
    ['5 * * * sun', 'every hour, 05 minutes past on Sunday (UTC)'],
    ['0 */6 * * 7,3', 'every 6 hours, 00 minutes past on Sunday and Wednesday (UTC)'],
    ['0 4 1 * *', 'at 04:00 on day 1 of each month (UTC)'],
  ])('says %s', (schedule, words) => {
    expect(scheduleWords(schedule, 'UTC')).toBe(words);
  });

  it.each(['0-9 1 * * *', '0 1 1 * 1', '0 1 * 6 *', '0 1 * * 1#2', '0 1 L * *', ''])(
    'leaves “%s” as it is written',
    (schedule) => {
      expect(scheduleWords(schedule, 'UTC')).toBeNull();
    },
  );
});
