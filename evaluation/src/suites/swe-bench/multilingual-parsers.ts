import { fromLines, type LineReader } from '../parsed-lines.js';
import type { LogParser, TestResult } from '../test-log.js';
import { doctestParser } from './doctest-parser.js';
import { karmaParser } from './karma-parser.js';

/** What a runner prints for each result. */
type Words = Record<string, TestResult>;

/** Reads trimmed lines; a later result of a test replaces an earlier one, as in SWE-Bench. */
const trimmed =
  (read: LineReader): LogParser =>
  (log) =>
    fromLines(log, (line) => read(line.trim()));

/**
 * For lines with a word and, in the next group, the name. `clean` removes what is not part of it.
 */
const wordFirst = (pattern: RegExp, words: Words, clean = (name: string) => name): LogParser =>
  trimmed((line) => {
    const [, word = '', name = ''] = pattern.exec(line) ?? [];
    const result = words[word];
    return result && name ? [clean(name), result] : undefined;
  });

/** The last match, because a name may look like the text after it. */
const lastOf = (line: string, pattern: RegExp): RegExpExecArray | undefined =>
  [...line.matchAll(pattern)].at(-1);

const withoutTime = (name: string) => name.replace(/\s\(\d{1,9}\s{0,9}m?s\)$/, '');

/** A failure ends with its file: `name in tests/unit/a.tcl`. */
function withoutFile(name: string): string {
  const at = name.search(/\s\S+$/);
  const before = at < 0 ? '' : name.slice(0, at).trimEnd();
  return /\sin$/.test(before) ? before.slice(0, -2).trimEnd() : name;
}

const redisWords: Words = { ok: 'PASSED', err: 'FAILED', skip: 'SKIPPED', ignore: 'SKIPPED' };

const redis: LogParser = trimmed((line) => {
  const [, word = '', rest = ''] = /^\[(ok|err|skip|ignore)\]:\s(.+)$/.exec(line) ?? [];
  const result = redisWords[word];
  const name = withoutTime(rest);
  return result && [word === 'err' ? withoutFile(name) : name, result];
});

const passFail: Words = { PASS: 'PASSED', FAIL: 'FAILED', SKIP: 'SKIPPED', ERR: 'FAILED' };

/** The text before the last bracket, which contains a time or a class: `name (1 ms)`. */
function beforeBracket(text: string): string | undefined {
  const at = text.endsWith(')') ? text.lastIndexOf(' (') : -1;
  return at > 0 ? text.slice(0, at) : undefined;
}

const googletest: LogParser = trimmed((line) => {
  const text = beforeBracket(line) ?? '';
  const found = lastOf(text, /\[\s{0,99}(OK|FAILED)\s{0,99}\]\s/g);
  if (!found) return undefined;
  return [text.slice(found.index + found[0].length), found[1] === 'OK' ? 'PASSED' : 'FAILED'];
});

const gotest: LogParser = trimmed((line) => {
  const [, word = '', rest = ''] = /^--- (PASS|FAIL|SKIP): (.+)$/.exec(line) ?? [];
  const name = beforeBracket(rest);
  return name ? [name, passFail[word] ?? 'FAILED'] : undefined;
});

/**
 * Maven names no passed tests, so each runs alone: the name is in the command that `set -x` shows.
 * The streams may mix, so a result belongs to the first test without one, and results before any
 * test to those that are left at the end.
 */
const maven: LogParser = (log) => {
  const option = '-Dtest=';
  const names: string[] = [];
  const early: TestResult[] = [];
  const tests = new Map<string, TestResult>();
  let next = 0;
  const give = (result: TestResult) => {
    const name = names[next];
    if (name === undefined) return false;
    next += 1;
    tests.set(name, result);
    return true;
  };
  for (const given of log.split('\n')) {
    const line = given.trim();
    const at = line.lastIndexOf(option);
    const [name] = (at >= 0 && /^\S+/.exec(line.slice(at + option.length))) || [];
    if (name) names.push(name);
    const [, word] = /BUILD (SUCCESS|FAILURE)$/.exec(line) ?? [];
    const result = word === 'SUCCESS' ? 'PASSED' : 'FAILED';
    if (word && !give(result)) early.push(result);
  }
  for (const result of early) give(result);
  return Object.fromEntries(tests);
};

/** A result may follow its test after lines of other programs. */
const gradle: LogParser = (log) => {
  let open: string | undefined;
  return fromLines(log, (given) => {
    const line = given.trim();
    const [, word = ''] = /(?:^|\s)(PASSED|FAILED)$/.exec(line) ?? [];
    const name = word ? line.slice(0, -word.length - 1) : '';
    if (name.length > 1 && !name.startsWith('>')) {
      open = undefined;
      return [name, word as TestResult];
    }
    if (/^[^>]\S*\s+>\s+\S+$/.test(line)) open = line;
    else if (open !== undefined && line === word && word) {
      const test = open;
      open = undefined;
      return [test, word as TestResult];
    }
    return undefined;
  });
};

/** PHPUnit with --testdox: the class in a line of its own, then its tests. */
const phpunit: LogParser = (log) => {
  const words: Words = { '✔': 'PASSED', '✘': 'FAILED', '↩': 'SKIPPED' };
  // SWE-Bench's name for tests without a class.
  let suite = 'None';
  return fromLines(log, (line) => {
    const heading = /^[\p{L}\p{N}_]/u.test(line) ? beforeBracket(line) : undefined;
    if (heading && heading.length > 1) suite = heading;
    const [, mark = '', name = ''] = /^\s*([✔✘↩])\s*(.*)$/.exec(line) ?? [];
    const result = words[mark];
    return result && [`${suite} > ${name}`, result];
  });
};

const letters: Words = { '.': 'PASSED', F: 'FAILED', E: 'FAILED', O: 'SKIPPED' };

/** `Class: does it. = 0.01 s = .`: name, times, and a letter for the result. */
const minitest: LogParser = trimmed((line) => {
  const at = Math.max(...['.', 'F', 'E'].map((letter) => line.lastIndexOf(letter)));
  const equals = at < 0 ? -1 : line.lastIndexOf('=', at);
  const end = equals < 2 ? -1 : line.lastIndexOf('. ', equals - 2);
  const result = letters[line[at] ?? ''];
  return end > 0 && result ? [line.slice(0, end), result] : undefined;
});

/** `name ....F`: a point for each step that passed. */
const cucumber: LogParser = trimmed((line) => {
  const found = lastOf(line, / (?:\.+F|\.{2,})/g);
  if (!found) return undefined;
  return [line.slice(0, found.index), found[0].endsWith('F') ? 'FAILED' : 'PASSED'];
});

const rubyUnit: LogParser = trimmed((line) => {
  const found = lastOf(line, /:\s+(?:\.|[EFO]\b)/g);
  const start = line.startsWith('test: ') && (found?.index ?? 0) > 6 ? 6 : 0;
  const result = letters[found?.[0].at(-1) ?? ''];
  return found && result && found.index > start
    ? [line.slice(start, found.index), result]
    : undefined;
});

const rspec: LogParser = trimmed((line) => {
  const found = lastOf(line, / - (passed|failed)/g);
  if (!found || found.index === 0) return undefined;
  return [line.slice(0, found.index), found[1] === 'passed' ? 'PASSED' : 'FAILED'];
});

const okFailed: Words = { ok: 'PASSED', 'not ok': 'FAILED' };
const jestMarks: Words = { '✓': 'PASSED', '✕': 'FAILED', '○': 'SKIPPED' };
const vitestMarks: Words = { '✓': 'PASSED', '×': 'FAILED', '↓': 'SKIPPED' };

/** The log parsers of SWE-Bench Multilingual, by what their runners print. */
export const multilingualParsers = {
  ant: wordFirst(/^\[junit\]\s+\[(PASS|FAIL|ERR)\]\s+(.*)$/, passFail),
  cargo: trimmed((line) => {
    const [, name = '', word = ''] = /^test\s+(\S+)\s+\.\.\.\s+(ok|FAILED)$/.exec(line) ?? [];
    return word ? [name, word === 'ok' ? 'PASSED' : 'FAILED'] : undefined;
  }),
  cucumber,
  doctest: doctestParser,
  googletest,
  gotest,
  gradle,
  jestVerbose: wordFirst(/^([✓✕○])\s(.+)$/, jestMarks, (name) => withoutTime(name).trim()),
  jestJson: wordFirst(/^\[(PASSED|FAILED)\]\s(.+)$/, { PASSED: 'PASSED', FAILED: 'FAILED' }),
  jq: wordFirst(/^(PASS|FAIL):\s(.+)$/, passFail),
  karma: karmaParser,
  maven,
  micropython: wordFirst(/^(pass|FAIL|skip)\s+(.+)$/, {
    pass: 'PASSED',
    FAIL: 'FAILED',
    skip: 'SKIPPED',
  }),
  minitest,
  phpunit,
  redis,
  rspec,
  rubyUnit,
  tap: wordFirst(/^(ok|not ok) \d+ (.+)$/, okFailed),
  vitest: wordFirst(/^([✓×↓])\s(.+)$/, vitestMarks, (name) =>
    name.replace(/\s(?:\d{1,9}\s{0,9}m?s?|\[skipped\])$/, ''),
  ),
} satisfies Record<string, LogParser>;
