import type { TestResults } from '../suites/test-log.js';
import { forParsers, type RepositoryLog } from './repository-log.js';

const jestLog = `PASS packages/a/a.test.js (5.123 s)
PASS packages/b/b.test.js
FAIL packages/c/c.test.js (12.3s)
FAIL packages/d/d.test.js (120ms)

Test Suites: 2 failed, 2 passed, 4 total
`;

const inJest: TestResults = {
  'packages/a/a.test.js': 'PASSED',
  'packages/b/b.test.js': 'PASSED',
  'packages/c/c.test.js': 'FAILED',
  'packages/d/d.test.js': 'FAILED',
};

const mochaReport = (passes: string[], failures: string[]) => {
  const of = (titles: string[]) =>
    titles.map((fullTitle) => ({ title: fullTitle, fullTitle, duration: 1, err: {} }));
  const report = {
    stats: { tests: 2 },
    tests: [],
    pending: [],
    failures: of(failures),
    passes: of(passes),
  };
  return `${JSON.stringify(report, undefined, 2)}\n`;
};

export const javascriptLogs: RepositoryLog[] = [
  ...forParsers(['carbon', 'prettier', 'react_pdf', 'scratch_gui', 'grommet'], jestLog, inJest),
  {
    parser: 'parse_log_calypso',
    log: `+ ./node_modules/.bin/jest --verbose -c=test/client/jest.config.json client/a/test/index.js
PASS client/a/test/index.js
  selectors
    #one()
      ✓ returns null (12ms)
      ✕ returns a plan
    #two()
      ✓ is there
  ● selectors › #one() › returns a plan
      ✓ is no test
Test Suites: 1 failed, 1 total
+ ./node_modules/.bin/jest --verbose -c=test/client/jest.config.json client/b/test/index.js
  reducer
    ✓ works (3ms)
`,
    tests: {
      'selectors - #one() - returns null': 'PASSED',
      'selectors - #one() - returns a plan': 'FAILED',
      'selectors - #two() - is there': 'PASSED',
      'reducer - works': 'PASSED',
    },
  },
  {
    parser: 'parse_log_calypso',
    log: '+ ./node_modules/.bin/jest a\n  ✓ works\n',
    tests: { '- works': 'PASSED' },
  },
  {
    parser: 'parse_log_marked',
    log: 'Started\n.F\n1) GFM list should pass\n  Message:\n    2) not at the start\n12 specs, 1 failure\n',
    tests: { 'GFM list should pass': 'FAILED' },
  },
  {
    parser: 'parse_log_prismjs',
    log: `+ ./node_modules/.bin/mocha tests/run.js --reporter json --language a\n${mochaReport(['A one'], ['A two'])}+ ./node_modules/.bin/mocha tests/run.js --reporter json --language b\n${mochaReport(['B one'], [])}`,
    tests: { 'A one': 'PASSED', 'A two': 'FAILED', 'B one': 'PASSED' },
  },
  {
    parser: 'parse_log_highlightjs',
    log: `
  no relevance keywords
    ✔ should work (14ms)
  javascript
    ✓ should markup jsx
    ✓ has (10ms) inside
    1) should markup built-in

  2 passing (1s)
  1 failing

  1) javascript
       should markup built-in:
`,
    tests: {
      'no relevance keywords.should work': 'PASSED',
      'javascript.should markup jsx': 'PASSED',
      'javascript.has  inside': 'PASSED',
      'javascript.should markup built-in': 'FAILED',
    },
  },
  {
    parser: 'parse_log_eslint',
    log: `
  3050 passing (9s)
  2 failing

  1) cli
       when given an async formatter path
         should execute without any errors:

      AssertionError: expected 2 to equal 0
      at Context.<anonymous> (tests/lib/cli.js:12:3)

  2) rules
       no-foo:
     TypeError: x is not a function

  3) throws an Error here:
     expected 1 to be 2

  4) after it:
     AssertionError: no
`,
    tests: {
      '': 'FAILED',
      'after it:': 'FAILED',
      'cli when given an async formatter path should execute without any errors:': 'FAILED',
      'rules no-foo:': 'FAILED',
    },
  },
  {
    parser: 'parse_log_lighthouse',
    version: '2.5',
    log: `+ ./node_modules/.bin/mocha --reporter json lighthouse-core/test/a-test.js\n${mochaReport(['Audit "one" works', 'Audit two', 'again'], ['Audit two'])}+ ./node_modules/.bin/mocha --reporter json b\n${mochaReport([], ['again'])}+ ./node_modules/.bin/mocha --reporter json c\n${mochaReport(['again'], [])}`,
    tests: { 'Audit \\"one\\" works': 'PASSED', 'Audit two': 'FAILED', again: 'PASSED' },
  },
  { parser: 'parse_log_lighthouse', version: '6.4', log: jestLog, tests: inJest },
  {
    parser: 'parse_log_lighthouse',
    version: '10.0',
    log: `running 1 test files

  Image audit
    with a picture
      ✔ passes (34ms)
      1) fails
    ✔ is there
    ✔ slow (10ms) title (90ms)

  2 passing (2s)
      ✔ is no test
`,
    tests: {
      'with a picture - passes': 'PASSED',
      'with a picture - fails': 'FAILED',
      'with a picture - is there': 'PASSED',
      'with a picture - slow (10ms) title': 'PASSED',
    },
  },
  {
    parser: 'parse_log_quarto_cli',
    log: `[unit] > one ... \u001b[0m\u001b[32mok\u001b[0m (5ms)
[smoke] > quarto render /tmp/abc12.qmd --to html ... \u001b[0m\u001b[31mFAILED\u001b[0m (2s)
[smoke] > quarto render /tmp/def/x.md ... \u001b[0m\u001b[32mok\u001b[0m (2s)
[smoke] > silent ...
test result: FAILED. [smoke] 2 passed
ERRORS
[unit] > two ... \u001b[32mok
`,
    tests: {
      '[unit] > one': 'PASSED',
      '[smoke] > quarto render /tmp/0 --to html': 'FAILED',
      '[smoke] > quarto render /tmp/1x.md': 'PASSED',
      '[smoke] > silent': 'FAILED',
    },
  },
  {
    parser: 'parse_log_chart_js',
    log: '\u001b[1A\u001b[2KChrome 127.0.0.0 (Linux x86_64) Core.scale auto /base/a.js FAILED\nChrome 127.0.0.0 (Linux x86_64): Executed 2 of 2 (1 FAILED)\n',
    tests: { 'Core.scale auto /base/a.js ': 'FAILED' },
  },
  {
    parser: 'parse_log_bpmn_js',
    log: '\u001b[2KPhantomJS 2.1.1 (Linux 0.0.0) import draws it FAILED\nChrome Headless 127.0.0.0 (Linux x86_64) features/popup opens FAILED\nHeadlessChrome 95.0 (Linux 0.0.0) moves FAILED\nExecuted 9 of 9\n',
    tests: {
      'import draws it ': 'FAILED',
      'features/popup opens ': 'FAILED',
      'moves ': 'FAILED',
    },
  },
  {
    parser: 'parse_log_openlayers',
    log: `Chrome Headless 127.0.0.0 (Linux x86_64) ol.Map renders FAILED
Chrome 72.0.3 (Linux 0.0.0) ol.View  zooms FAILED
case ./cases/a/main.js': mismatch
  1) ol/format
       reads:
     Error: no
`,
    tests: {
      'ol.Map renders': 'FAILED',
      'ol.View zooms': 'FAILED',
      'ol/format reads:': 'FAILED',
      "./cases/a/main.js'": 'FAILED',
    },
  },
  {
    parser: 'parse_log_next',
    version: '1.11',
    log: `+ xvfb-run --server-args=x npm run test
  ✓ is no test
Starting browser Chrome
LOG: hello
  Cascader
    data
      ✓ should render
      ✗ should support immutable data
\tAssertionError: # of things
  is no heading

    keys
      \u001b[32m✓\u001b[0m moves
TOTAL: 2 SUCCESS
      ✓ is none either
`,
    tests: {
      'Cascader - data - should render': 'PASSED',
      'Cascader - data - should support immutable data': 'FAILED',
      'Cascader - data - keys - moves': 'PASSED',
    },
  },
  {
    parser: 'parse_log_next',
    version: '1.27',
    log: `  Running:  table/index-spec.tsx                                (1 of 1)


  Table
    ✓ should render (91ms)
    1) should sort


  1 passing (2s)
`,
    tests: { 'Table: should render': 'PASSED', 'Table: should sort': 'FAILED' },
  },
  {
    parser: 'parse_log_p5js',
    log: `\u001b[31m
  2 failing

  1) p5.RendererGL
       beginShape() in WEBGL mode
         QUADS mode:
     AssertionError: no
{
  "a": 3) not a test:
}
<canvas>
  4) in <b>an</b> element:
</canvas>
5) too far left:
  6) Color
       works
     sinks:
`,
    tests: {
      'p5.RendererGL:beginShape() in WEBGL mode:QUADS mode': 'FAILED',
      'too far left': 'FAILED',
    },
  },
];
