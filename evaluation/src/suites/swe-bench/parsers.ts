import { z } from 'zod';
import { assetTable } from '../../asset-table.js';
import { javascriptParsers } from './javascript-parsers.js';
import { multilingualParsers } from './multilingual-parsers.js';
import { pythonParsers } from './python-parsers.js';
import type { LogParser } from '../test-log.js';

const parsers = { ...pythonParsers, ...javascriptParsers, ...multilingualParsers } satisfies Record<
  string,
  LogParser
>;

/** How tests run again after a first run has passed; instance-check.ts defines each. */
const runnerName = z.enum([
  'pytest',
  'django',
  'sympy',
  'jasmine',
  'prism',
  'mocha',
  'calypso',
  'jestFiles',
  'browser',
  'p5',
  'again',
]);
export type RunnerName = z.infer<typeof runnerName>;

const log = z.enum(Object.keys(parsers) as (keyof typeof parsers)[]);
/**
 * By SWE-Bench's own names. Its parsers (swebench/harness/log_parsers, MIT) made the ids in its
 * data, so these read the same ids from the same logs.
 */
const table = assetTable(
  'swe-bench-parsers.json',
  z.record(
    z.string(),
    z.object({
      log,
      /** Other parsers for instances whose tests run in another runner, by their number. */
      instances: z.record(z.string(), log).optional(),
      runner: runnerName.default('again'),
    }),
  ),
);

const rowOf = (name: string) => (Object.hasOwn(table(), name) ? table()[name] : undefined);

export function logParserOf(name: string): LogParser | undefined {
  const row = rowOf(name);
  const { log: usual, instances } = row ?? {};
  if (!usual || !instances) return usual && parsers[usual];
  return (text, origin) =>
    parsers[instances[origin.id.split('-').at(-1) ?? ''] ?? usual](text, origin);
}

export const runnerNameOf = (name: string): RunnerName => rowOf(name)?.runner ?? 'again';

export const logParserNames = (): string[] => Object.keys(table());

/**
 * Whether a runner ran at least one test, for parsers that only read failures. A count of 0 does
 * not suffice.
 */
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
