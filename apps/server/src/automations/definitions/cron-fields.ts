import { AppError } from '@belay/protocol';

/** A schedule of five fields, as sets of numbers. */
export interface CronFields {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** Days of the month and of the week are both given: either is enough, as in cron. */
  readonly eitherDay: boolean;
  /** Minutes or hours begin with `*`: it follows the clock, and no time is made up for or left out. */
  readonly followsClock: boolean;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  name: string;
  least: number;
  most: number;
  /** Names that stand for numbers from `least` on. */
  names?: readonly string[];
}

const fields = {
  minutes: { name: 'minute', least: 0, most: 59 },
  hours: { name: 'hour', least: 0, most: 23 },
  days: { name: 'day of the month', least: 1, most: 31 },
  months: { name: 'month', least: 1, most: 12, names: months },
  // 7 is Sunday, too.
  weekdays: { name: 'day of the week', least: 0, most: 7, names: weekdays },
} as const satisfies Record<string, Field>;

/** Reads minute, hour, day of month, month and day of week. Throws `invalid_input` with one sentence. */
export function parseSchedule(text: string): CronFields {
  const parts = text.trim().split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = parts;
  if (parts.length !== 5)
    throw invalid(
      `a schedule has five fields (minute, hour, day of month, month, day of week), such as 30 2 * * 1-5, and this has ${parts.length}`,
    );
  const ofWeek = numbersOf(weekday, fields.weekdays);
  return {
    minutes: numbersOf(minute, fields.minutes),
    hours: numbersOf(hour, fields.hours),
    days: numbersOf(day, fields.days),
    months: numbersOf(month, fields.months),
    weekdays: new Set([...ofWeek].map((one) => one % 7)),
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
    followsClock: minute.startsWith('*') || hour.startsWith('*'),
  };
}

/** Whether a schedule comes on a day; the date counts from 1970 in UTC, as if the zone were UTC. */
export function comesOn(
  { days, months: ofYear, weekdays: ofWeek, eitherDay }: CronFields,
  date: Date,
): boolean {
  if (!ofYear.has(date.getUTCMonth() + 1)) return false;
  const [inMonth, inWeek] = [days.has(date.getUTCDate()), ofWeek.has(date.getUTCDay())];
  return eitherDay ? inMonth || inWeek : inMonth && inWeek;
}

/** The minutes of a day, sorted. */
export const minutesOfDay = ({ hours, minutes }: CronFields): number[] =>
  [...hours]
    .flatMap((hour) => [...minutes].map((minute) => hour * 60 + minute))
    .toSorted((a, b) => a - b);

/** The least number of minutes between two times, whatever clocks are set to. */
export function shortestGap(schedule: CronFields): number {
  const all = minutesOfDay(schedule);
  return Math.min(...all.map((minute, at) => (all[at + 1] ?? (all[0] ?? 0) + 24 * 60) - minute));
}

function numbersOf(text: string, field: Field): Set<number> {
  return new Set(text.split(',').flatMap((part) => rangeOf(part, field)));
}

const form = /^(?:\*|(?<from>\w+)(?:-(?<to>\w+))?)(?:\/(?<step>\d{1,3}))?$/;

function rangeOf(text: string, field: Field): number[] {
  const found = form.exec(text);
  if (!found) throw unreadable(text, field);
  const { from, to, step = '1' } = found.groups ?? {};
  const first = from === undefined ? field.least : numberOf(from, field);
  // `5/10` means from 5 on.
  const usual = from === undefined || found.groups?.['step'] !== undefined ? field.most : first;
  const last = to === undefined ? usual : numberOf(to, field);
  if (last < first || Number(step) === 0) throw unreadable(text, field);
  return Array.from(
    { length: Math.floor((last - first) / Number(step)) + 1 },
    (_, at) => first + at * Number(step),
  );
}

function numberOf(text: string, field: Field): number {
  const named = field.names?.indexOf(text.toLowerCase()) ?? -1;
  const number = named >= 0 ? named + field.least : /^\d{1,2}$/.test(text) ? Number(text) : -1;
  if (number < field.least || number > field.most) throw unreadable(text, field);
  return number;
}

const unreadable = (text: string, { name, least, most }: Field): AppError =>
  invalid(
    `“${text.slice(0, 40)}” is not a ${name}: use numbers from ${least} to ${most}, * for all, ranges such as ${least}-${least + 2}, lists, or */2`,
  );

const invalid = (reason: string): AppError => new AppError('invalid_input', reason);
