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
  const parts = new OpenParts();
  let testCase = '';
  for (const [, closing, kind, attributes = '', single] of log
    .slice(Math.max(start, 0), Math.max(end, 0))
    .matchAll(tag)) {
    if (kind === 'TestCase') testCase = closing ? testCase : nameIn(attributes);
    else if (kind === 'Expression') {
      if (!closing && !/\ssuccess="true"/.test(attributes)) parts.fail();
    } else if (!closing) parts.open(`${testCase} > ${nameIn(attributes)}`);
    if (kind === 'SubCase' && (closing || single)) {
      const part = parts.close();
      if (part) tests.set(part.name, part.result);
    }
  }
  return Object.fromEntries(tests);
};

/** Hostile output may nest without end. */
const maxDepth = 64;

/** The parts of a test that have not ended; of deeper ones only their number is known. */
class OpenParts {
  readonly #parts: { name: string; result: TestResult }[] = [];
  #deeper = 0;

  open(name: string): void {
    if (this.#parts.length < maxDepth) this.#parts.push({ name, result: 'PASSED' });
    else this.#deeper += 1;
  }

  fail(): void {
    for (const part of this.#parts) part.result = 'FAILED';
  }

  /** The part that ends; undefined for a deeper one. */
  close() {
    if (this.#deeper === 0) return this.#parts.pop();
    this.#deeper -= 1;
    return undefined;
  }
}

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
