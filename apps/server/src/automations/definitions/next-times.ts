import { AppError } from '@belay/protocol';
import { comesOn, minutesOfDay, parseSchedule, type CronFields } from './cron-fields.js';
import { ZoneClock } from './zone-clock.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** 29 February is the same day of the week every 28 years, and every 40 across some ends of a century. */
const maxDays = 41 * 366;

/**
 * The next times of a schedule, earliest first; fewer if there are no more, as for 30 February. A time that the zone
 * leaves out, as its clocks are set forward, comes at the first instant after the gap; one that it has twice comes the
 * first time. A schedule with `*` minutes or hours follows the clock instead. Throws `invalid_input` with one sentence.
 */
export function nextTimes(schedule: string, zone: string, after: Date, count: number): Date[] {
  const fields = parseSchedule(schedule);
  const clock = clockOf(zone);
  const minutes = minutesOfDay(fields);
  const today = Math.floor(clock.wallAt(after.getTime()) / dayMs) * dayMs;
  const found = new Set<number>();
  // The day before may end in a gap. After the last one needed, one more may have an earlier time, at midnight.
  let more = 2;
  for (let day = -1; day < maxDays && more > 0; day += 1) {
    const wall = today + day * dayMs;
    if (comesOn(fields, new Date(wall)))
      for (const time of timesOfDay(wall, { fields, clock, minutes }))
        if (time > after.getTime()) found.add(time);
    if (found.size >= count) more -= 1;
  }
  return [...found]
    .toSorted((a, b) => a - b)
    .slice(0, count)
    .map((time) => new Date(time));
}

interface Days {
  fields: CronFields;
  clock: ZoneClock;
  minutes: readonly number[];
}

function timesOfDay(day: number, { fields, clock, minutes }: Days): number[] {
  const offset = clock.offsetOfDay(day);
  const walls = minutes.map((minute) => day + minute * minuteMs);
  if (offset !== undefined) return walls.map((wall) => wall - offset);
  return walls.flatMap((wall) => {
    const times = clock.timesOf(wall);
    if (fields.followsClock) return times;
    return times.slice(0, 1).concat(times.length > 0 ? [] : clock.afterGap(wall));
  });
}

function clockOf(zone: string): ZoneClock {
  try {
    return new ZoneClock(zone);
  } catch {
    throw new AppError(
      'invalid_input',
      `“${zone.slice(0, 60)}” is not a time zone: use one such as Europe/Berlin or UTC`,
    );
  }
}
