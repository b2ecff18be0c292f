import { failedTests, fromLines, Headings, indentOf, withoutColours } from '../parsed-lines.js';
import type { LogParser, TestResult, TestResults } from '../test-log.js';

/**
 * Karma's line for a failed test: the browser, then the test's name. For some repositories, the ids
 * in the data include the space before FAILED.
 */
const karmaFailure =
  (browsers: RegExp): ((log: string) => string[]) =>
  (log) =>
    log.split('\n').flatMap((line) => {
      const start = line.endsWith('FAILED') ? browsers.exec(line) : null;
      return start ? [line.slice(start.index + start[0].length, -'FAILED'.length)] : [];
    });

const chartFailures = karmaFailure(/Chrome\s[\d.]{1,40}[^\S\r\n]\([^)\n]{1,80}\)[^\S\r\n]/);
const chart: LogParser = (log) => failedTests(chartFailures(withoutColours(log)));

const bpmnFailures = karmaFailure(
  /(?:2KPhantomJS\s[\d.]{1,40}|Chrome\sHeadless\s[^()\n]{1,40}|HeadlessChrome\s[\d.]{1,40})\s\(Linux\s[^)\n]{1,40}\)\s/,
);
const bpmn: LogParser = (log) => failedTests(bpmnFailures(log));

const openlayersKarma = karmaFailure(
  /Chrome\s(?:Headless\s)?[\d.]{1,40}\s\(Linux\s[^)\n]{1,40}\)\s/,
);

/**
 * Karma's failures, Mocha's failures, whose names end where the error begins, and the cases of the
 * rendering tests.
 */
const openlayers: LogParser = (log) => {
  const names = openlayersKarma(log);
  let open: string[] | undefined;
  for (const line of log.split('\n')) {
    const [, shown] = /^case\s(.*):\smismatch/.exec(line) ?? [];
    if (shown !== undefined) names.push(shown);
    const [, rest] = (!open && /^\s\s\d{1,9}\)(.*)$/.exec(line)) || [];
    if (rest !== undefined) open = [];
    const text = rest ?? line;
    const end = text.indexOf('Error:');
    if (open && end >= 0) {
      names.push([...open, text.slice(0, end)].join(' '));
      open = undefined;
    } else open?.push(text);
  }
  return failedTests(names.map((name) => name.replace(/\s+/g, ' ').trim()));
};

const next: LogParser = (log, { version }) =>
  version === '1.27' ? nextCypress(log) : nextKarma(log);

/** Karma’s tree, once for each call that `set -x` shows. */
function nextKarma(given: string): TestResults {
  const tests = new Map<string, TestResult>();
  const headings = new Headings();
  for (const run of withoutAssertions(withoutColours(given)).split(' xvfb-run ').slice(1)) {
    const lines = (run.split('Starting browser Chrome').at(-1) ?? '').split('\n');
    for (const line of lines) {
      if (line.startsWith('TOTAL')) break;
      if (/^(?:ERROR|LOG|WARN|Check|in)/.test(line.trim())) continue;
      const at = line.search(/[✗✓]/);
      const failed = line.includes('✗');
      if (at >= 0) {
        const mark = failed ? '✗' : '✓';
        const test = line.slice(line.indexOf(mark) + 1).trimStart();
        tests.set(headings.of(test), failed ? 'FAILED' : 'PASSED');
      } else if (indentOf(line) > 0) headings.add(line);
    }
  }
  return Object.fromEntries(tests);
}

/** Messages of assertions contain lines that look like headings. */
function withoutAssertions(log: string): string {
  const [first = '', ...others] = log.split('AssertionError:');
  let kept = first;
  for (const text of others) {
    const end = /^\s+#/.test(text.slice(0, 100)) ? text.indexOf('\n\n') : -1;
    kept += end < 0 ? `AssertionError:${text}` : text.slice(end + 2);
  }
  return kept;
}

/** Cypress: the file, two empty lines, its heading and its tests. */
function nextCypress(log: string): TestResults {
  let heading: string | undefined;
  let since = Number.POSITIVE_INFINITY;
  return fromLines(log, (line) => {
    since = /Running:.*\)$/.test(line) ? 0 : since + 1;
    const [, title] = (since === 3 && /^ {2}(.*)$/.exec(line)) || [];
    heading = title ?? heading;
    if (heading === undefined) return undefined;
    const [, failed] = /^ {4}\d{1,9}\)\s(.*)/.exec(line) ?? [];
    if (failed !== undefined) return [`${heading}: ${failed.trim()}`, 'FAILED'];
    const [, passed] = /^ {4}✓\s(.*)\(/.exec(line) ?? [];
    return passed === undefined ? undefined : [`${heading}: ${passed.trim()}`, 'PASSED'];
  });
}

/**
 * Mocha in a browser, mixed with the output of examples. The number of a failure is followed by its
 * headings, each indented deeper than the one before, and a colon.
 */
const p5: LogParser = (given) => {
  const log = withoutMarkup(withoutBlocks(withoutColours(given)));
  const names = numbered(log).filter((lines) =>
    lines.every((line, at) => indentOf(line) > (at === 0 ? 0 : indentOf(lines[at - 1] ?? ''))),
  );
  return failedTests(names.map((lines) => lines.map((line) => line.trim()).join(':')));
};

/** The lines from each number to the next colon, at most 1,000 letters. */
function numbered(log: string): string[][] {
  const found: string[][] = [];
  let colon = -1;
  let end = 0;
  for (const start of log.matchAll(/^[^\S\n]{0,200}\d{1,9}\)/gm)) {
    const from = start.index + start[0].length;
    // Many numbers may have the same colon, which is looked for only once.
    if (colon < from) colon = log.indexOf(':', from);
    if (colon < 0) break;
    if (start.index < end || colon - from > 1000) continue;
    found.push(log.slice(from, colon).split('\n'));
    end = colon;
  }
  return found;
}

/** Removes printed objects and lists. */
function withoutBlocks(log: string): string {
  const inside = { '}': false, ']': false };
  const kept = log.split('\n').filter((given) => {
    const line = given.trimEnd();
    const end = line.endsWith('{') ? '}' : line.endsWith('[') ? ']' : null;
    if (end) inside[end] = true;
    else if ((line === '}' || line === ']') && inside[line]) inside[line] = false;
    else return !inside['}'] && !inside[']'] && !/^(?:\{.*\}|\[.*\])$/.test(line);
    return false;
  });
  return kept.join('\n');
}

/** Removes printed elements, from a tag to its closing tag. */
function withoutMarkup(log: string): string {
  const open: { name: string; at: number }[] = [];
  const byName = new Map<string, number[]>();
  const removed: [number, number][] = [];
  for (const tag of log.matchAll(/<(\/?)(\w{1,64})>/g)) {
    const [whole, slash, name = ''] = tag;
    const places = byName.get(name) ?? [];
    if (!slash) {
      byName.set(name, places);
      places.push(open.push({ name, at: tag.index }) - 1);
      continue;
    }
    const first = places.at(-1);
    if (first === undefined) continue;
    removed.push([open[first]?.at ?? 0, tag.index + whole.length]);
    for (const { name: inner } of open.splice(first)) byName.get(inner)?.pop();
  }
  let text = '';
  let end = 0;
  for (const [from, to] of outermost(removed)) {
    text += log.slice(end, from);
    end = to;
  }
  return text + log.slice(end);
}

/** The ranges that lie in no other one, in order. */
function outermost(ranges: [number, number][]): [number, number][] {
  const found: [number, number][] = [];
  for (const range of ranges) {
    while ((found.at(-1)?.[0] ?? -1) >= range[0]) found.pop();
    found.push(range);
  }
  return found;
}

export const browserParsers = { bpmn, chart, next, openlayers, p5 } satisfies Record<
  string,
  LogParser
>;
