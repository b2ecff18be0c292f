import { excerpt } from '@belay/protocol';

const most = 20;

/** Paths or commands in one line for the model; long ones are shortened, and many are counted. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, most).map((name) => excerpt(name.replaceAll(/\s+/g, ' '), 200));
  const more = names.length > most ? [`${names.length - most} more`] : [];
  return [...shown, ...more].join(', ');
}
