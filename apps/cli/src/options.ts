import { AppError } from '@belay/protocol';
import { InvalidArgumentError } from 'commander';

const number = (text: string, what: string, good: (value: number) => boolean): number => {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || !good(value))
    throw new InvalidArgumentError(`It must be ${what}.`);
  return value;
};

export const wholeNumber = (text: string): number =>
  number(text, 'a whole number above 0', (value) => Number.isInteger(value) && value > 0);

export const integer = (text: string): number => number(text, 'a whole number', Number.isInteger);

export const aboveZero = (text: string): number =>
  number(text, 'a number above 0', (value) => value > 0);

/** The engine requires at least this much memory for a container. */
export const containerMegabytes = (text: string): number =>
  number(text, 'a whole number of 64 or more', (value) => Number.isInteger(value) && value >= 64);

export const seconds = (text: string): number =>
  number(text, 'a number of seconds above 0', (value) => value > 0);

export const dollarAmount = (text: string): number =>
  number(text, 'an amount in dollars above 0', (value) => value > 0);

export const port = (text: string): number =>
  number(
    text,
    'a port from 1 to 65535',
    (value) => Number.isInteger(value) && value > 0 && value < 65_536,
  );

export const several = (text: string, before: string[] = []): string[] => [...before, text];

/** `NAME=VALUE` each; undefined without any. Throws `invalid_input`. */
export function labelsIn(given: readonly string[] | undefined): Record<string, string> | undefined {
  if (!given) return undefined;
  return Object.fromEntries(
    given.map((text): [string, string] => {
      const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      if (name === undefined || value === undefined)
        throw new AppError('invalid_input', `${text} is not a label: write NAME=VALUE.`);
      return [name, value];
    }),
  );
}

export const names = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

/** An agent to compare, and its model if it has one of its own. */
export interface NamedAgent {
  name: string;
  model?: string;
}

/** Comma-separated agents, each as `NAME` or `NAME=MODEL`. */
export const agentsWithModels = (text: string): NamedAgent[] =>
  names(text).map((one) => {
    const [, name, model] = /^([^=]+)(?:=([^=]+))?$/.exec(one) ?? [];
    if (name === undefined)
      throw new InvalidArgumentError('It must be a list such as NAME=PROVIDER:MODEL,NAME.');
    return { name, ...(model !== undefined && { model }) };
  });

/** A limit, or the word `none`, because commander treats null as an option without a value. */
export type Limit = number | 'none';

export const limit =
  (parse: (text: string) => number) =>
  (text: string): Limit =>
    text === 'none' ? text : parse(text);

const units = { h: 3_600_000, d: 86_400_000 } as const;

/** An expiry date as an ISO time, from a duration or a date. */
export function expiry(text: string): string {
  const span = /^(\d{1,5})([hd])$/.exec(text);
  const [, amount = '', unit = 'h'] = span ?? [];
  const time = span
    ? Date.now() + Number(amount) * units[unit as keyof typeof units]
    : /^\d{4}-\d{2}-\d{2}/.test(text)
      ? Date.parse(text)
      : Number.NaN;
  if (Number.isNaN(time) || time <= Date.now())
    throw new InvalidArgumentError('It must be in the future, such as 12h, 30d or 2027-01-31.');
  return new Date(time).toISOString();
}
