const units: [number, string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
];

/** A length of time in its two largest units: 2m10, 3h05, 1d04. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  const [size, unit] = units.find(([each]) => whole >= each) ?? [60, 'm'];
  const rest = unit === 'd' ? 3_600 : unit === 'h' ? 60 : 1;
  return `${Math.floor(whole / size)}${unit}${String(Math.floor((whole % size) / rest)).padStart(2, '0')}`;
}

/** How long a call took: 40 ms, 2.1 s, 3m12. */
export function took(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : duration(seconds);
}

export const dollars = (value: number): string =>
  `$${value.toFixed(value > 0 && value < 0.1 ? 3 : 2)}`;

export function count(value: number): string {
  if (value < 1_000) return String(value);
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 10_000 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`;
  if (value < 1_048_576) return `${(value / 1_024).toFixed(1)} kB`;
  return `${(value / 1_048_576).toFixed(1)} MB`;
}

export const clock = (time: string): string =>
  new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** A day and a time of it, as people in this place write them. */
export const moment = (time: string): string =>
  new Date(time).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });

export const age = (time: string, now = Date.now()): string =>
  duration((now - Date.parse(time)) / 1_000);

export const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
