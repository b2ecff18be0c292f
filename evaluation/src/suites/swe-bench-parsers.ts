import { javascriptParsers } from './swe-bench-parsers-javascript.js';
import { pythonParsers } from './swe-bench-parsers-python.js';
import type { LogParser } from './test-log.js';

/**
 * By SWE-Bench's own names. The ids in its data were made by its parsers (swebench/harness/log_parsers, MIT), so these
 * read the same ids out of the same logs.
 */
const parsers: Record<string, LogParser> = { ...pythonParsers, ...javascriptParsers };

export const logParserOf = (name: string): LogParser | undefined =>
  Object.hasOwn(parsers, name) ? parsers[name] : undefined;

export const logParserNames = Object.keys(parsers);

/** That a runner ran at least one test, for parsers that see failures only. A count of 0 is none. */
export const suiteRan = (log: string): boolean => log.split('\n').some((line) => ran.test(line));

const ran = new RegExp(
  [
    'Executed [1-9]\\d{0,8} of \\d',
    'TOTAL: [1-9]\\d{0,8} (?:SUCCESS|FAILED)',
    '[1-9]\\d{0,8} passing',
    'Tests:\\s{1,9}[1-9]',
    'Test Suites:\\s{1,9}(?:\\d{1,8} \\w{1,9}, ){0,4}[1-9]\\d{0,8} total',
    '^# tests [1-9]',
    '[1-9]\\d{0,8} specs?, \\d{1,8} failures?',
    "': ok$",
  ].join('|'),
);
