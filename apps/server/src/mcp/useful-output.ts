import { visibleText } from '@belay/protocol';

const maxLines = 5;
const maxCharacters = 600;

/** What the end of a program’s standard error says, in one line: without stack frames and pointers to log files. */
export function usefulOutput(errors: string): string {
  const lines = errors
    .split('\n')
    .map((line) => visibleText(line.replaceAll(styles, '').trim()))
    .filter((line) => line !== '' && !noise.some((pattern) => pattern.test(line)));
  return lines.slice(-maxLines).join(' · ').slice(-maxCharacters).toWellFormed();
}

/** Lines that runtimes and package managers print around the reason. */
const noise = [
  /^at /,
  /^File "/,
  /^[\^~{}\s]+$/,
  /^Node\.js v\d/,
  /^npm (error|ERR!)( A complete log of this run can be found in.*)?$/,
];

/** Colours and other styles of a terminal. */
// oxlint-disable-next-line no-control-regex
export const styles = /\u001b\[[\d;]{0,30}[A-Za-z]/g;
