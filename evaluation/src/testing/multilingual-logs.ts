import type { TestResults } from '../suites/test-log.js';
import type { RepositoryLog } from './repository-log.js';

const minitestLog = `TestTags: should render it. = 0.02 s = .
TestTags: a context. should fail. = 0.10 s = F
TestTags: should break. = 0.00 s = E
Finished in 0.2 s, 9 tests.
`;
const inMinitest: TestResults = {
  'TestTags: should render it': 'PASSED',
  'TestTags: a context. should fail': 'FAILED',
  'TestTags: should break': 'FAILED',
};
const cucumberLog = `Feature: one a post ....
Feature: two a page ..F-
one . is not a test
`;
const inCucumber: TestResults = {
  'Feature: one a post': 'PASSED',
  'Feature: two a page': 'FAILED',
};

const jestLog = `PASS packages/a/a.test.js
  works
    ✓ returns null (12 ms)
    ✓ (1 ms) is in its name
    ✕ fails (2 s)
    ○ skipped later
`;
const inJest: TestResults = {
  'returns null': 'PASSED',
  '(1 ms) is in its name': 'PASSED',
  fails: 'FAILED',
  'skipped later': 'SKIPPED',
};
const jestJsonLog = '[PASSED] List > size\n  [FAILED] List > map\n[SKIPPED] List > x\n';
const inJestJson: TestResults = { 'List > size': 'PASSED', 'List > map': 'FAILED' };

/** Logs as the runners of SWE-bench Multilingual print them. */
export const multilingualLogs: RepositoryLog[] = [
  {
    parser: 'parse_log_ant',
    log: '    [junit] [PASS] One(lombok.A)\n    [junit] [FAIL] Two(lombok.A)\n [junit] [ERR] Three\n[junit] Tests run: 3\n',
    tests: { 'One(lombok.A)': 'PASSED', 'Two(lombok.A)': 'FAILED', Three: 'FAILED' },
  },
  {
    parser: 'parse_log_cargo',
    log: 'running 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest a::d ... ignored\ntest result: FAILED. 1 passed\n',
    tests: { 'a::b': 'PASSED', 'a::c': 'FAILED' },
  },
  { parser: 'parse_log_cucumber', log: cucumberLog, tests: inCucumber },
  {
    parser: 'parse_log_doctest',
    log: `+ ./build/test
<?xml version="1.0" encoding="UTF-8"?>
<doctest binary="test-a">
  <TestSuite>
    <TestCase name="vector&lt;int>" filename="a.cpp" line="1">
      <SubCase name="is &quot;empty&quot;" filename="a.cpp" line="2">
        <Expression success="true" type="CHECK" filename="a.cpp" line="3">
          <Original>a &lt; b</Original>
        </Expression>
        <SubCase name="inside" filename="a.cpp" line="4">
          <Expression success="false" type="CHECK" filename="a.cpp" line="5"/>
        </SubCase>
      </SubCase>
      <SubCase name="alone"/>
      <OverallResultsAsserts successes="1" failures="1" test_case_success="false"/>
    </TestCase>
  </TestSuite>
</doctest>
<doctest><TestCase name="x"><SubCase name="second report"/></TestCase>
`,
    tests: {
      'vector<int> > inside': 'FAILED',
      'vector<int> > is "empty"': 'FAILED',
      'vector<int> > alone': 'PASSED',
    },
  },
  {
    parser: 'parse_log_googletest',
    log: `[ RUN      ] format_test.a
[       OK ] format_test.a (0 ms)
[  FAILED  ] format_test.b/1, where GetParam() = (1) (12 ms)
[----------] 2 tests from format_test (12 ms total)
[  FAILED  ] format_test.b
1: [       OK ] format_test.c (3 ms)
`,
    tests: {
      'format_test.a': 'PASSED',
      'format_test.b/1, where GetParam() = (1)': 'FAILED',
      'format_test.c': 'PASSED',
    },
  },
  {
    parser: 'parse_log_gotest',
    log: '=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestA/b_(c) (0.01s)\n--- SKIP: TestD (0.00s)\nFAIL\nok  \tgo.dev/x\t0.1s\n',
    tests: { TestA: 'PASSED', 'TestA/b_(c)': 'FAILED', TestD: 'SKIPPED' },
  },
  {
    parser: 'parse_log_gradle_custom',
    log: `> Task :test
org.A > one PASSED
org.A > two(int) > [1] FAILED
org.A > three
WARNING: something else
PASSED
> Task :done PASSED
FAILED
`,
    tests: {
      'org.A > one': 'PASSED',
      'org.A > two(int) > [1]': 'FAILED',
      'org.A > three': 'PASSED',
    },
  },
  {
    parser: 'parse_log_immutable_js',
    id: 'immutable-js__immutable-js-2006',
    log: jestLog,
    tests: inJest,
  },
  {
    parser: 'parse_log_immutable_js',
    id: 'immutable-js__immutable-js-2005',
    log: jestJsonLog,
    tests: inJestJson,
  },
  { parser: 'parse_log_jekyll', id: 'jekyll__jekyll-8047', log: minitestLog, tests: inMinitest },
  { parser: 'parse_log_jekyll', id: 'jekyll__jekyll-8761', log: cucumberLog, tests: inCucumber },
  { parser: 'parse_log_jest', log: jestLog, tests: inJest },
  { parser: 'parse_log_jest_json', log: jestJsonLog, tests: inJestJson },
  {
    parser: 'parse_log_jq',
    log: 'PASS: tests/jqtest\n  FAIL: tests/shtest\nPASS:none\n# TOTAL: 2\n',
    tests: { 'tests/jqtest': 'PASSED', 'tests/shtest': 'FAILED' },
  },
  {
    parser: 'parse_log_karma',
    log: `  ✔ is not a test
Starting browser ChromeNoSandbox
  hooks
    useState
      ✔ works
      ✖ fails
  keys
    ✔ moves
SUMMARY:
    ✔ is none either
`,
    tests: {
      'hooks > useState > works': 'PASSED',
      'hooks > useState > fails': 'FAILED',
      'hooks > moves': 'PASSED',
    },
  },
  {
    parser: 'parse_log_maven',
    log: `[INFO] BUILD SUCCESS
+ mvnd test -B -pl gson -Dtest=com.google.A#one
+ mvnd test -B -pl gson -Dtest=com.google.A#two
[INFO] BUILD SUCCESS
[INFO] BUILD FAILURE
+ mvnd test -Dtest=com.google.A#three
`,
    tests: {
      'com.google.A#one': 'PASSED',
      'com.google.A#two': 'FAILED',
      'com.google.A#three': 'PASSED',
    },
  },
  {
    parser: 'parse_log_micropython_test',
    log: 'pass  basics/a.py\nFAIL  basics/b.py\nskip  net/c.py\n2 tests performed\n',
    tests: { 'basics/a.py': 'PASSED', 'basics/b.py': 'FAILED', 'net/c.py': 'SKIPPED' },
  },
  { parser: 'parse_log_minitest', log: minitestLog, tests: inMinitest },
  {
    parser: 'parse_log_phpunit',
    log: ` ✔ Before any class
Date (Carbon\\Tests\\Date)
 ✔ Adds a day
 ✘ Adds a month (of 31 days)
 ↩ Is skipped
`,
    tests: {
      'None > Before any class': 'PASSED',
      'Date > Adds a day': 'PASSED',
      'Date > Adds a month (of 31 days)': 'FAILED',
      'Date > Is skipped': 'SKIPPED',
    },
  },
  {
    parser: 'parse_log_redis',
    log: '[ok]: SET and GET (12 ms)\n[err]: EXPIRE in time in tests/unit/expire.tcl\n[skip]: large memory\n[ignore]: slow\n[exception]: no\n',
    tests: {
      'SET and GET': 'PASSED',
      'EXPIRE in time': 'FAILED',
      'large memory': 'SKIPPED',
      slow: 'SKIPPED',
    },
  },
  {
    parser: 'parse_log_rspec_transformed_json',
    log: 'Cop - a - passed\nCop does b - failed\nCop c - pending\n',
    tests: { 'Cop - a': 'PASSED', 'Cop does b': 'FAILED' },
  },
  {
    parser: 'parse_log_ruby_unit',
    log: `TestParser: .: (0.1)
  test: parses it:	.: (0.01)
  test_fail(A):	F
  test_error:	E
  test_omitted:	O
  Fine: not
`,
    tests: {
      TestParser: 'PASSED',
      'parses it': 'PASSED',
      'test_fail(A)': 'FAILED',
      test_error: 'FAILED',
      test_omitted: 'SKIPPED',
    },
  },
  {
    parser: 'parse_log_tap',
    log: 'TAP version 13\nok 1 adds\nnot ok 2 - subtracts\n  ok 3 is nested # SKIP\n1..3\n',
    tests: { adds: 'PASSED', '- subtracts': 'FAILED', 'is nested # SKIP': 'PASSED' },
  },
  {
    parser: 'parse_log_vitest',
    log: ` ✓ a.spec.ts > works 12ms
 ✓ a.spec.ts > counts 1 2
 × a.spec.ts > fails 3 ms
 ↓ a.spec.ts > later [skipped]
`,
    tests: {
      'a.spec.ts > works': 'PASSED',
      'a.spec.ts > counts 1': 'PASSED',
      'a.spec.ts > fails': 'FAILED',
      'a.spec.ts > later': 'SKIPPED',
    },
  },
];
