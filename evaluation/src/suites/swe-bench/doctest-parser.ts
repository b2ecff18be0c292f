import type { LogParser, TestResult } from '../test-log.js';

/**
 * The tags of a report that decide results, with their attributes. Other text of the report has its
 * angle brackets escaped.
 */
const tag = /<(\/?)(TestCase|SubCase|Expression)((?:\s+[\w:.-]+="[^"]*")*)\s*(\/?)>/g;

/**
 * doctest's report in XML, of all assertions: a part of a test has passed if each of its assertions
 * has succeeded.
 */
export const doctestParser: LogParser = (log) => {
  const start = log.indexOf('<doctest');
  // A report that is cut off counts as none.
  const end = Math.max(start, log.indexOf('</doctest>', start));
  const tests = new Map<string, TestResult>();
  let testCase = '';
  const open: { name: string; result: TestResult }[] = [];
  for (const [, closing, kind, attributes = '', single] of log
    .slice(Math.max(start, 0), Math.max(end, 0))
    .matchAll(tag)) {
    if (kind === 'TestCase') testCase = closing ? testCase : nameIn(attributes);
    else if (kind === 'Expression') {
      if (!closing && !/\ssuccess="true"/.test(attributes))
        for (const part of open) part.result = 'FAILED';
    } else if (!closing && open.length < maxDepth)
      open.push({ name: `${testCase} > ${nameIn(attributes)}`, result: 'PASSED' });
    if (kind === 'SubCase' && (closing || single)) {
      const part = open.pop();
      if (part) tests.set(part.name, part.result);
    }
  }
  return Object.fromEntries(tests);
};

/** Hostile output may nest without end. */
const maxDepth = 64;

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const nameIn = (attributes: string): string =>
  (/\sname="([^"]*)"/.exec(attributes)?.[1] ?? '').replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(lt|gt|amp|quot|apos));/gi,
    (whole, decimal?: string, hex?: string, word?: string) => {
      const code = decimal ? Number(decimal) : Number.parseInt(hex ?? '', 16);
      if (word) return entities[word.toLowerCase()] ?? whole;
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
    },
  );
