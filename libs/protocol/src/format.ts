// Numbers for people: in the dashboard, in a terminal, and in sentences of the log.

const durationUnits = [
  { seconds: 86_400, unit: 'd', part: 3_600, partUnit: 'h' },
  { seconds: 3_600, unit: 'h', part: 60, partUnit: 'm' },
  { seconds: 60, unit: 'm', part: 1, partUnit: 's' },
];

/** A duration in its two largest units: 45s, 2m 10s, 3h 05m, 1d 04h. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const large = durationUnits.find((each) => whole >= each.seconds);
  if (!large) return `${whole}s`;
  const rest = Math.floor((whole % large.seconds) / large.part);
  return `${Math.floor(whole / large.seconds)}${large.unit} ${String(rest).padStart(2, '0')}${large.partUnit}`;
}

/** A duration with more precision, for how long something took: 40 ms, 2.1 s, 3m 12s. */
export function elapsedText(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : durationText(seconds);
}

/** The time since a moment, in the format of `durationText`. */
export const ageText = (time: string, now = Date.now()): string =>
  durationText((now - Date.parse(time)) / 1_000);

/** The time of day in the language and time zone of the reader. */
export const clockText = (time: string): string =>
  new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** Day and time in the language and time zone of the reader. */
export const dateTimeText = (time: string): string =>
  new Date(time).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });

/** US dollars: $1.25, and $0.0125 below ten cents. */
export const dollarsText = (value: number): string =>
  `$${value.toFixed(value > 0 && value < 0.1 ? 4 : 2)}`;

/** A number without decimals: 12,345. */
export const numberText = (value: number): string => Math.round(value).toLocaleString('en');

/** A large number, rounded: 999, 1.2k, 12k, 1.5M. */
export function countText(value: number): string {
  if (value < 1_000) return String(value);
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 10_000 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** 1 file, 12 files, 1,200 files; `many` is the plural if it is not formed with an s. */
export const pluralText = (value: number, one: string, many = `${one}s`): string =>
  `${numberText(value)} ${value === 1 ? one : many}`;

/** Names, of which at most five are shown: a, b, c, d, e and 12 more. */
export const namesText = (names: readonly string[]): string =>
  names.length > shownNames
    ? `${names.slice(0, shownNames).join(', ')} and ${names.length - shownNames} more`
    : names.join(', ');

const shownNames = 5;

/** A size in binary units, like the limits: 800 B, 1.5 KiB, 2 MiB. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1_024 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10));
  return `${Math.round((bytes / 1_024 ** power) * 10) / 10} ${units[power]}`;
}

/** A share of one: 12.5%. */
export const percentText = (share: number): string => `${(100 * share).toFixed(1)}%`;

/** A difference of two shares: +12.5 points. */
export const pointsText = (share: number): string =>
  `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)} points`;
