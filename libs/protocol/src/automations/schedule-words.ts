/** A schedule in words, such as “at 02:30 from Monday to Friday (Europe/Berlin)”; null for one that words do not make clearer. */
export function scheduleWords(schedule: string, zone: string): string | null {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = schedule.trim().split(/\s+/);
  const time = timeWords(minute, hour);
  const days = dayWords(day, weekday);
  if (time === null || days === null || month !== '*') return null;
  return `${[time, days].filter((words) => words !== '').join(' ')} (${zone})`;
}

function timeWords(minute: string, hour: string): string | null {
  const [, step] = /^\*\/(\d+)$/.exec(minute) ?? [];
  if (hour === '*' && step !== undefined) return `every ${step} minutes`;
  if (!/^\d+$/.test(minute)) return null;
  const at = minute.padStart(2, '0');
  const [, hours] = /^\*\/(\d+)$/.exec(hour) ?? [];
  if (hours !== undefined) return `every ${hours} hours, ${at} minutes past`;
  if (hour === '*') return `every hour, ${at} minutes past`;
  if (!/^\d+(?:,\d+)*$/.test(hour)) return null;
  return `at ${hour
    .split(',')
    .map((one) => `${one.padStart(2, '0')}:${at}`)
    .join(' and ')}`;
}

function dayWords(day: string, weekday: string): string | null {
  if (day === '*' && weekday === '*') return '';
  if (weekday === '*') return /^\d+$/.test(day) ? `on day ${day} of each month` : null;
  if (day !== '*') return null;
  const [, first, last] = /^(\w+)-(\w+)$/.exec(weekday) ?? [];
  if (first !== undefined && last !== undefined) {
    const ends = [dayName(first), dayName(last)];
    return ends.includes(null) ? null : `from ${ends.join(' to ')}`;
  }
  const named = weekday.split(',').map(dayName);
  return named.includes(null) ? null : `on ${named.join(' and ')}`;
}

const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Of a number from 0 to 7, both ends of which are Sunday, or of three letters. */
const dayName = (text: string): string | null =>
  (/^[0-7]$/.test(text)
    ? dayNames[Number(text) % 7]
    : dayNames.find((name) => name.slice(0, 3).toLowerCase() === text.toLowerCase())) ?? null;
