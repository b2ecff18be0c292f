import { describeSlowLogs, logs, long } from '../../testing/describe-slow-logs.js';
import { logParserNames, logParserOf, suiteRan } from './parsers.js';

it.each(logs.map((log) => ({ version: '', id: '', ...log })))(
  '$parser $version $id: reads the ids of the data from a log',
  (given) => {
    const { parser, log, tests, ...origin } = given;
    expect(logParserOf(parser)?.(log, origin)).toEqual(tests);
  },
);

it('has a log for every parser', () => {
  expect(new Set(logs.map(({ parser }) => parser))).toEqual(new Set(logParserNames()));
  expect(logParserOf('toString')).toBeUndefined();
});

it('a part of a doctest has failed if a part in it has, however deep the parts are', () => {
  const names = Array.from({ length: 70 }, (_, depth) => `part ${depth}`);
  const opened = names.map((name) => `<SubCase name="${name}">`).join('');
  const closed = '</SubCase>'.repeat(65);
  const report = (success: boolean) =>
    `<doctest><TestCase name="a">${opened}${closed}<Expression success="${success}"></Expression>${'</SubCase>'.repeat(5)}</TestCase></doctest>`;
  const read = (success: boolean) =>
    Object.entries(
      logParserOf('parse_log_doctest')?.(report(success), { version: '', id: '' }) ?? {},
    );
  const outer = names.slice(0, 5).map((name) => `a > ${name}`);
  const failed = read(false).filter(([, result]) => result === 'FAILED');
  expect(failed.map(([name]) => name).toSorted()).toEqual(outer);
  expect(read(true)).toHaveLength(64);
  expect(read(true).every(([, result]) => result === 'PASSED')).toBe(true);
});

it('a suite has run if its runner counts tests, but not if it counts none', () => {
  for (const line of [
    'Executed 12 of 12 (1 FAILED)',
    'TOTAL: 3 SUCCESS',
    '  1 passing (3s)',
    'Tests:       1 failed, 2 total',
    'Test Suites: 1 failed, 2 passed, 3 total',
    '# tests 4',
    '1598 specs, 0 failures',
    "./cases/a/main.js': ok",
  ])
    expect([line, suiteRan(`before\n${line}\nafter`)]).toEqual([line, true]);
  for (const line of ['Executed 0 of 0', '0 passing', '0 specs, 0 failures', 'PASSED a'])
    expect([line, suiteRan(line)]).toEqual([line, false]);
});

describeSlowLogs([
  long('  1) '),
  long('<a></b>'),
  long('Chrome 1 (Linux '),
  long('Chrome Headless 1 (Linux x) '),
  long('{\n  "stats": {\n'),
  long('_ a.py:b '),
  long(' ... Testing against Django installed in \n'),
  long('AssertionError: #'),
  long('FAIL a (1s) '),
  `[ok]: ${long(' ')}x in`,
  `[err]: ${long('a in ')}b`,
  `PASS: ${long(' (')})`,
  `[ OK ] ${long('[ OK ] (')})`,
  `a. ${long('. =')}.`,
  long(' .'),
  `a ${long('.')}x`,
  long(': '),
  long(' - '),
  long('-Dtest='),
  long('<doctest><SubCase'),
  `<doctest>${long('<SubCase name="a">')}</doctest>`,
  `<doctest><SubCase ${long('a="b" ')}</doctest>`,
  long('1'),
  Array.from({ length: 2000 }, (_, depth) => ' '.repeat(depth)).join('a\n'),
]);
