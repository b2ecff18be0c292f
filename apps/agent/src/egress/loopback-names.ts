import { readFileSync } from 'node:fs';

/** The names that `/etc/hosts` gives to the loopback address, without `localhost`. */
export const loopbackNames = (file = '/etc/hosts'): string[] => [
  ...new Set(linesOf(file).flatMap(namesIn)),
];

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return []; // Not every image has one.
  }
}

function namesIn(line: string): string[] {
  const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
  return address === '::1' || address.startsWith('127.')
    ? names.filter((name) => /^[\w.-]+$/.test(name) && name !== 'localhost')
    : [];
}
