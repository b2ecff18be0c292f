import { readFileSync } from 'node:fs';

/** Where the container has mounts, beside its root. */
export function mountedPaths(): ReadonlySet<string> {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n');
  const paths = lines.map((line) => unescaped(line.split(' ')[4] ?? ''));
  return new Set(paths.filter((path) => path !== '/'));
}

/** The kernel writes spaces and the like as octal numbers. */
const unescaped = (path: string): string =>
  path.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
