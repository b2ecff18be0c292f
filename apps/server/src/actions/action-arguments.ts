import { AppError } from '@belay/protocol';

/** Linux accepts 128 KiB in one argument; longer values are passed only on standard input. */
const longestArgument = 100_000;
const mostArguments = 1_000;

/**
 * The command-line arguments of a call, as in RunGPT: the list `args` as positionals, everything else as `key=value`,
 * with strings unquoted and other values as JSON. Standard input gets the whole input.
 */
export function actionArguments({ args, ...named }: Record<string, unknown>): string[] {
  const positionals = Array.isArray(args) ? args : args === undefined ? [] : [args];
  const pairs = Object.entries(named).filter(([key]) => /^\w[\w.-]*$/.test(key));
  const all = [
    ...positionals.map(textOf),
    ...pairs.map(([key, value]) => `${key}=${textOf(value)}`),
  ].filter((text) => Buffer.byteLength(text) <= longestArgument);
  if (all.length > mostArguments)
    throw new AppError('invalid_input', `An action takes at most ${mostArguments} arguments.`);
  if (all.some((text) => text.includes('\0')))
    throw new AppError('invalid_input', 'An argument of an action cannot hold the character NUL.');
  return all;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
