import { readFileSync } from 'node:fs';

/** The paths at which something else than the image’s own file system begins. */
export function mountPoints(): ReadonlySet<string> {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  return new Set(lines.map((line) => unescaped(line.split(' ')[4] ?? '')));
}

/** The kernel writes spaces, tabs, newlines and backslashes in octal. */
const unescaped = (path: string): string =>
  path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
