import { fromLines, type LineReader } from '../parsed-lines.js';
import type { LogParser, TestResult } from '../test-log.js';

const isResult = (word = ''): word is TestResult =>
  /^(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL)$/.test(word);

/** `SKIPPED [2] file:3: reason` counts skips and does not name a test. */
const isCount = (result: string, word = '') => result === 'SKIPPED' && /^\[\d+\]$/.test(word);

/** A line of pytest's summary, `-rA`. */
const summaryLine: LineReader = (line) => {
  const [, result, test = ''] = /^([A-Z]+)\s+(\S+)/.exec(line) ?? [];
  return isResult(result) && !isCount(result, test) ? [test, result] : undefined;
};

const pytest: LogParser = (log) => fromLines(log, summaryLine);

/**
 * Of a parameter that is a path, only the last part counts, because folders differ between
 * machines.
 */
const pytestOptions: LogParser = (log) =>
  fromLines(log, (line) => {
    const [test = '', result] = summaryLine(line) ?? [];
    const open = test.indexOf('[');
    const close = test.lastIndexOf(']');
    const option = test.slice(open + 1, close);
    if (!result) return undefined;
    if (open < 0 || close < open) return [test, result];
    const isPath = /^\/(?!\/)/.test(option) && !option.includes('*');
    const short = isPath ? `/${option.split('/').at(-1)}` : option;
    return [`${test.slice(0, open)}[${short}]`, result];
  });

const wordsOf = (text: string) => text.split(/\s/).filter(Boolean);

/** Names may contain spaces; older versions print the result after the name. */
const pytestLong: LogParser = (log) =>
  fromLines(log, (given) => {
    // oxlint-disable-next-line no-control-regex
    const line = given.replace(/\[\d{1,9}m/g, '').replace(/[\u0001-\u001f]/g, '');
    const [, first, rest = ''] = /^([A-Z]+)\s(.*)$/.exec(line) ?? [];
    if (!isResult(first)) return resultAtEnd(line);
    const [name = ''] = first === 'FAILED' ? rest.split(' - ', 1) : [rest];
    const words = wordsOf(name);
    return words.length > 0 && !isCount(first, words[0]) ? [words.join(' '), first] : undefined;
  });

const resultAtEnd: LineReader = (line) => {
  const words = wordsOf(line);
  const last = words.pop();
  return isResult(last) && line.endsWith(last) && words.length > 0
    ? [words.join(' '), last]
    : undefined;
};

/** Two mouse buttons have different names since Python 3.11. */
const matplotlib: LogParser = (log, origin) =>
  pytest(log.replaceAll('MouseButton.LEFT', '1').replaceAll('MouseButton.RIGHT', '3'), origin);

const seaborn: LogParser = (log) =>
  fromLines(log, (line) => {
    const [first = '', second = ''] = line.trim().split(/\s/).filter(Boolean);
    if (!second) return undefined;
    if (line.startsWith('FAILED')) return [second, 'FAILED'];
    if (second === 'PASSED' && line.includes(' PASSED ')) return [first, 'PASSED'];
    return line.startsWith('PASSED') ? [second, 'PASSED'] : undefined;
  });

/**
 * SymPy's own runner prints a letter after each test, and a heading `____ file.py:test ____` for
 * each failure.
 */
const sympy: LogParser = (log) =>
  fromLines(log, (given) => {
    const line = given.trim();
    const heading = line.replace(/^_+ | _+$/g, '');
    if (/^_.* _+$/.test(line) && heading.includes('.py:')) return [heading, 'FAILED'];
    const [test = '', ...more] = line.startsWith('test_') ? line.split(' ') : [];
    const result = { E: 'ERROR', F: 'FAILED', ok: 'PASSED' }[more.at(-1) ?? ''];
    return result ? [test, result as TestResult] : undefined;
  });

/** unittest's lines as Django's runner prints them; a test's own output may precede its `ok`. */
const django: LogParser = (log) => {
  const tests = new Map<string, TestResult>();
  let latest: string | undefined;
  for (const given of log.split('\n')) {
    const line = given.trim();
    if (line.includes(' ... ')) latest = line.split(' ... ', 1)[0];
    for (const [test, result] of djangoResults(line)) tests.set(test, result);
    if (line.startsWith('ok') && latest !== undefined) tests.set(latest, 'PASSED');
  }
  for (const test of interrupted(log)) tests.set(test, 'PASSED');
  return Object.fromEntries(tests);
};

function* djangoResults(line: string): Generator<[test: string, result: TestResult]> {
  if (line.includes('--version is equivalent to version'))
    yield ['--version is equivalent to version', 'PASSED'];
  const [, passed] = /^(.*) \.\.\. {1,2}(?:ok|OK)$/.exec(line) ?? [];
  if (passed !== undefined) yield [withoutMigration(passed), 'PASSED'];
  for (const [ending, result] of endings) {
    const at = line.indexOf(ending);
    if (at >= 0 && (result === 'SKIPPED' || line.endsWith(ending)))
      yield [line.slice(0, at), result];
  }
  const [, word, test] = /^(FAIL|ERROR):\s*(\S+)/.exec(line) ?? [];
  if (test) yield [test, word === 'FAIL' ? 'FAILED' : 'ERROR'];
}

const endings: [string, TestResult][] = [
  [' ... skipped', 'SKIPPED'],
  [' ... FAIL', 'FAILED'],
  [' ... ERROR', 'ERROR'],
];

/** The output of a migration is on the line of one test (django__django-7188). */
const withoutMigration = (test: string): string =>
  test.startsWith('Applying sites.0002_alter_domain_unique...test_no_migrations')
    ? test.slice(test.indexOf('...') + 3).trim()
    : test;

/**
 * Tests whose line is interrupted by a whole check of a project, so that `ok` is on a separate
 * line.
 */
function* interrupted(log: string): Generator<string> {
  let open: string | undefined;
  let checked = false;
  for (const line of log.split('\n')) {
    if (line === 'ok' && checked && open !== undefined) yield open;
    checked = line.endsWith('silenced).');
    open = /^(.*?) \.\.\. Testing against Django installed in /.exec(line)?.[1] ?? open;
  }
}

export const pythonParsers = {
  pytest,
  pytestOptions,
  pytestLong,
  matplotlib,
  seaborn,
  sympy,
  django,
} satisfies Record<string, LogParser>;
