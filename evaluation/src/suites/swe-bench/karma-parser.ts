import { fromLines, indentOf } from '../parsed-lines.js';
import type { LogParser } from '../test-log.js';

/** Hostile output may indent every line deeper. */
const maxDepth = 64;

/**
 * Karma's tree, whose names contain the headings above a test. By SWE-Bench's rules, which made the
 * ids in its data, a heading that is less indented only closes one and is itself part of no name,
 * and one that is indented as deep as the last is ignored.
 */
export const karmaParser: LogParser = (log) => {
  const headings: string[] = [];
  let depth = -1;
  let started = false;
  let ended = false;
  return fromLines(log, (line) => {
    ended ||= line.startsWith('SUMMARY:');
    if (ended) return undefined;
    if (line.includes('Starting browser')) started = true;
    else if (started) {
      const [, mark, name = ''] = /^\s*([✔✖])\s(.*)$/.exec(line) ?? [];
      if (mark) return [[...headings, name].join(' > '), mark === '✔' ? 'PASSED' : 'FAILED'];
      // The last blank before a heading is not part of its indent.
      const indent = indentOf(line) - 1;
      if (indent > depth && indent > 0) {
        if (headings.length < maxDepth) headings.push(line.slice(indent + 1));
        depth = indent;
      } else if (indent < depth && indent > 0) {
        headings.pop();
        depth = indent;
      }
    }
    return undefined;
  });
};
