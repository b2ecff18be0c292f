import { processorMs } from '@belay/testing';
import { javascriptLogs } from '../../testing/javascript-logs.js';
import { multilingualLogs } from '../../testing/multilingual-logs.js';
import { pythonLogs } from '../../testing/python-logs.js';
import { logParserNames, logParserOf, suiteRan } from './parsers.js';

const logs = [...pythonLogs, ...javascriptLogs, ...multilingualLogs];

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

describe('attacks: logs that are made to be slow to read', () => {
  const long = (text: string) => text.repeat(Math.ceil(2 ** 19 / text.length));
  const hostile = [
    long('  1) '),
    long('  1) a\n'),
    long('\n'),
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
    long('a > b\n'),
    long('<doctest><SubCase'),
    `<doctest>${long('<SubCase name="a">')}</doctest>`,
    `<doctest><SubCase ${long('a="b" ')}</doctest>`,
    `Starting browser\n${Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a\n`).join('')}${long('✔ a\n')}`,
    long('1'),
    Array.from({ length: 2000 }, (_, depth) => ' '.repeat(depth)).join('a\n'),
  ];

  // Most names share a parser, which is measured once for each version.
  const parsers = new Map(
    logs.map(({ parser, version = '' }) => {
      const parse = logParserOf(parser);
      const read = (log: string) => parse?.(log, { version, id: '' });
      return [`${parse?.name || parser} ${version}`, read];
    }),
  );

  it.each(hostile.map((log) => [log.slice(0, 40), log]))('%j', (_, log) => {
    const text = `+ xvfb-run ./node_modules/.bin/jest \nrunning 1 test files\n${log}`;
    const parseAll = () => {
      for (const parse of parsers.values()) parse(text);
    };
    expect(processorMs(parseAll)).toBeLessThan(10_000);
  });
});
