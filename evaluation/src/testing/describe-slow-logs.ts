import { processorMs } from '@belay/testing';
import { logParserOf } from '../suites/swe-bench/parsers.js';
import { javascriptLogs } from './javascript-logs.js';
import { multilingualLogs } from './multilingual-logs.js';
import { pythonLogs } from './python-logs.js';

/** The log of every parser. */
export const logs = [...pythonLogs, ...javascriptLogs, ...multilingualLogs];

/** Half a mebibyte of this text. */
export const long = (text: string): string => text.repeat(Math.ceil(2 ** 19 / text.length));

/** Reads each of these with every parser. */
export function describeSlowLogs(hostile: readonly string[]): void {
  // Most names share a parser, which is measured once for each version.
  const parsers = new Map(
    logs.map(({ parser, version = '' }) => {
      const parse = logParserOf(parser);
      const read = (log: string) => parse?.(log, { version, id: '' });
      return [`${parse?.name || parser} ${version}`, read];
    }),
  );

  describe('attacks: logs that are made to be slow to read', () => {
    it.each(hostile.map((log) => [log.slice(0, 40), log]))('%j', (_, log) => {
      const text = `+ xvfb-run ./node_modules/.bin/jest \nrunning 1 test files\n${log}`;
      const parseAll = () => {
        for (const parse of parsers.values()) parse(text);
      };
      expect(processorMs(parseAll)).toBeLessThan(10_000);
    });
  });
}
