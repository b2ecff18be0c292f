import { z } from 'zod';

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** A length of time as people write it: `90s`, `10m`, `4h`, `2d`. */
export const timeSpan = z
  .string()
  .regex(/^[1-9]\d{0,4}[smhd]$/, 'a time such as 90s, 10m, 4h or 2d')
  .describe('A time such as 90s, 10m, 4h or 2d.');

/** The milliseconds of a checked span. */
export function spanMs(span: string): number {
  const unit = span.at(-1) as keyof typeof unitSeconds;
  return Number(span.slice(0, -1)) * unitSeconds[unit] * 1_000;
}
