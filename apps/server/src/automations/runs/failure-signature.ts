import { createHash } from 'node:crypto';

/** Lines that say what failed, in any language of tests. */
const failing = /fail|error|exception|panic|assert|expected|not ok|✕|✗|✘|×/i;
const maxLines = 50;

/**
 * The same for the same failure: the exit code and the lines that say what failed, without times, numbers, paths and
 * addresses, which differ from run to run.
 */
export function failureSignature(exitCode: number | null, output: string): string {
  const lines = output.split('\n').filter((line) => failing.test(line));
  const said = new Set(lines.slice(0, 10 * maxLines).map(normalized));
  const sorted = [...said].toSorted().slice(0, maxLines);
  const hash = createHash('sha256').update(JSON.stringify([exitCode, ...sorted]));
  return `check:${hash.digest('hex').slice(0, 32)}`;
}

const normalized = (line: string): string =>
  line
    .slice(0, 500)
    .replaceAll(/\b0x[\da-f]+\b/gi, '0x')
    .replaceAll(/(?:\/[\w.@-]+)+\//g, '/')
    .replaceAll(/\d+/g, '0')
    .replaceAll(/\s+/g, ' ')
    .trim();
