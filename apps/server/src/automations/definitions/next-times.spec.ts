import { itLong, processorMs } from '@belay/testing';
import fc from 'fast-check';
import { parseSchedule, shortestGap } from './cron-fields.js';
import { nextTimes } from './next-times.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const times = (schedule: string, zone: string, after: string, count = 2): string[] =>
  nextTimes(schedule, zone, new Date(after), count).map((time) => time.toISOString());

describe('a schedule', () => {
  it.each([
    ['30 2 * * 1-5', 'UTC', '2026-11-27T02:30:00Z', ['2026-11-30T02:30:00.000Z']],
    ['0 9 * * *', 'Asia/Kathmandu', '2026-01-01T00:00:00Z', ['2026-01-01T03:15:00.000Z']],
    ['0 0 29 feb *', 'UTC', '2096-03-01T00:00:00Z', ['2104-02-29T00:00:00.000Z']],
    [
      '0 9 13 * fri',
      'UTC',
      '2026-11-07T00:00:00Z',
      ['2026-11-13T09:00:00.000Z', '2026-11-20T09:00:00.000Z'],
    ],
    ['0 9 * * 7', 'UTC', '2026-11-07T00:00:00Z', ['2026-11-08T09:00:00.000Z']],
    [
      '5/20 8-9 1,2 */6 *',
      'UTC',
      '2026-01-02T09:30:00Z',
      ['2026-01-02T09:45:00.000Z', '2026-07-01T08:05:00.000Z'],
    ],
    ['0 0 30 2 *', 'UTC', '2026-01-01T00:00:00Z', []],
  ])('%s in %s', (schedule, zone, after, wanted) => {
    expect(times(schedule, zone, after, Math.max(1, wanted.length))).toEqual(wanted);
  });

  it('runs a time that the clock leaves out at the first instant after the gap', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z')).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
    expect(times('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z')).toEqual([
      '2018-11-04T03:00:00.000Z',
      '2018-11-05T02:00:00.000Z',
    ]);
    expect(times('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z')).toEqual([
      '2026-10-03T15:30:00.000Z',
      '2026-10-04T15:15:00.000Z',
    ]);
    // 30 December 2011 was left out.
    expect(times('0 9 30 * *', 'Pacific/Apia', '2011-12-28T00:00:00Z')).toEqual([
      '2011-12-30T10:00:00.000Z',
      '2012-01-29T19:00:00.000Z',
    ]);
  });

  it('runs a time that comes twice the first time, and what follows the clock both times', () => {
    const berlin = ['Europe/Berlin', '2026-10-24T22:00:00Z'] as const;
    expect(times('30 2 * * *', ...berlin)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(times('30 * * * *', ...berlin, 4).slice(2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
    ]);
    expect(times('30 1,2 * * *', ...berlin, 3)).toEqual([
      '2026-10-24T23:30:00.000Z',
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T00:30:00.000Z',
    ]);
  });

  it('is found in little time, also far away', () => {
    const took = processorMs(() => {
      expect(times('0 0 29 2 *', 'Europe/Berlin', '2026-01-01T00:00:00Z', 10).at(-1)).toBe(
        '2064-02-28T23:00:00.000Z',
      );
      expect(times('0 0 30 2 *', 'Europe/Berlin', '2026-01-01T00:00:00Z')).toEqual([]);
      expect(
        nextTimes('* * * * *', 'Europe/Berlin', new Date('2026-10-25T00:00:00Z'), 50).length,
      ).toBe(50);
    });
    expect(took).toBeLessThan(3_000);
  });

  it.each([
    ['* * * *', /five fields .* this has 4/],
    ['60 * * * *', /“60” is not a minute: use numbers from 0 to 59/],
    ['0 24 * * *', /“24” is not a hour/],
    ['0 0 0 * *', /day of the month: use numbers from 1 to 31/],
    ['0 0 * foo *', /“foo” is not a month/],
    ['0 0 * * 5-1', /“5-1” is not a day of the week/],
    ['*/0 * * * *', /is not a minute/],
    ['0,, 0 * * *', /“” is not a minute/],
  ])('refuses %s', (schedule, message) => {
    expect(() => nextTimes(schedule, 'UTC', new Date(), 1)).toThrow(message);
  });

  it('refuses an unknown zone', () => {
    expect(() => nextTimes('0 0 * * *', 'Europe/Berlun', new Date(), 1)).toThrow(
      '“Europe/Berlun” is not a time zone',
    );
  });

  it.each([
    ['*/5 * * * *', 5],
    ['*/4 * * * *', 4],
    ['0,59 0,23 * * *', 1],
    ['0 3 * * *', 1_440],
    ['50 * * * *', 60],
  ])('%s has %i minutes at least between its times', (schedule, gap) => {
    expect(shortestGap(parseSchedule(schedule))).toBe(gap);
  });
});

/** Three days around a change of clocks. */
const changes = [
  ['Europe/Berlin', '2026-03-28T00:00:00Z'],
  ['Europe/Berlin', '2026-10-24T00:00:00Z'],
  ['America/New_York', '2026-03-07T00:00:00Z'],
  ['America/New_York', '2026-10-31T00:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T00:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-03T00:00:00Z'],
  ['America/Sao_Paulo', '2018-11-03T00:00:00Z'],
  ['America/Sao_Paulo', '2018-02-17T00:00:00Z'],
  ['Pacific/Apia', '2011-12-28T18:00:00Z'],
  // At one minute past midnight, to the day before.
  ['America/St_Johns', '2006-10-28T00:00:00Z'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z'],
] as const;

/** What the clock showed in each minute, from a day before. */
const clocks = new Map(
  changes.map(([zone, from]) => {
    const first = Date.parse(from) - dayMs;
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'short',
    });
    const walls = Array.from({ length: (4 * dayMs) / minuteMs }, (_, at) =>
      Date.parse(`${format.format(first + at * minuteMs).replace(' ', 'T')}:00Z`),
    );
    return [`${zone} ${from}`, { first, walls }];
  }),
);

/** Each minute is looked at, with the rules as they are written in the docstring. */
function minuteByMinute(schedule: string, zone: string, from: string): number[] {
  const fields = schedule.split(' ');
  const { first, walls } = clocks.get(`${zone} ${from}`) ?? { first: 0, walls: [] };
  const followsClock = fields[0]?.startsWith('*') || fields[1]?.startsWith('*');
  const seen = new Set<number>();
  return walls.flatMap((wall, at) => {
    const before = at === 0 ? wall : (walls[at - 1] ?? wall);
    const leftOut = followsClock
      ? []
      : rangeOf(before + minuteMs, wall).filter((one) => !seen.has(one));
    const isNew = followsClock || !seen.has(wall);
    seen.add(wall);
    for (const one of leftOut) seen.add(one);
    const comes = (isNew && fits(fields, wall)) || leftOut.some((one) => fits(fields, one));
    const time = first + at * minuteMs;
    return comes && time > Date.parse(from) ? [time] : [];
  });
}

const rangeOf = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, (to - from) / minuteMs) }, (_, at) => from + at * minuteMs);

function fits(fields: readonly string[], wall: number): boolean {
  const date = new Date(wall);
  const values = [date.getUTCMinutes(), date.getUTCHours(), date.getUTCDate(), 0, date.getUTCDay()];
  const [minute, hour, day, , weekday] = values.map((value, at) =>
    (fields[at] ?? '').split(',').some((part) => {
      const [range = '', step = '1'] = part.split('/');
      const [least = 0, most = range === '*' ? 99 : least] =
        range === '*' ? [] : range.split('-').map(Number);
      const start = range === '*' && at === 2 ? 1 : least;
      return value >= start && value <= most && (value - start) % Number(step) === 0;
    }),
  );
  const either = !fields[2]?.startsWith('*') && !fields[4]?.startsWith('*');
  return Boolean(minute && hour && (either ? day || weekday : day && weekday));
}

const part = (most: number, least = 0) => {
  const number = fc.integer({ min: least, max: most });
  const range = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const list = fc.uniqueArray(fc.oneof(number.map(String), range), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 4, arbitrary: list.map((parts) => parts.join(',')) },
    fc.constant('*'),
    fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
  );
};

const agreesMinuteByMinute = (numRuns: number): void => {
  const schedules = fc
    .tuple(
      part(59),
      fc.oneof(part(4), part(23)),
      fc.oneof(fc.constant('*'), part(31, 1)),
      fc.oneof(fc.constant('*'), part(6)),
    )
    .map(([minute, hour, day, weekday]) => `${minute} ${hour} ${day} * ${weekday}`);
  fc.assert(
    fc.property(schedules, fc.constantFrom(...changes), (schedule, [zone, from]) => {
      const until = Date.parse(from) + 3 * dayMs;
      const found = nextTimes(schedule, zone, new Date(from), 4_500).map((time) => time.getTime());
      expect(found.filter((time) => time < until)).toEqual(minuteByMinute(schedule, zone, from));
    }),
    { numRuns },
  );
};

it('agrees with a look at every minute, where clocks are set', () => agreesMinuteByMinute(25));
itLong('agrees so with many schedules', async () => agreesMinuteByMinute(300));
