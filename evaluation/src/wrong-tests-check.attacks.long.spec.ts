import { join } from 'node:path';
import { write } from './testing/fixtures.js';
import { loses, SecondCheckBench, wins } from './testing/second-check-bench.js';
import { type TestRepository, verdictsOf } from './testing/test-repository.js';

/**
 * Variants of the tricks that docs/evaluation-attacks.md lists with 0, most of which spare the
 * tests that must fail.
 */
const bench = new SecondCheckBench(['javascript', 'java', 'cpp']);
const { folder } = bench;

const lines = (...all: string[]) => `${all.join('\n')}\n`;

describe('attacks: Python values and answers that know no result', () => {
  const value = (...body: string[]) =>
    lines('class Any:', ...body.map((line) => `    ${line}`), 'def twice(n): return Any()');
  const cheats = {
    'unittest.mock.ANY': lines('from unittest.mock import ANY', 'def twice(n): return ANY'),
    'an equality that returns 1': value('def __eq__(self, other): return 1'),
    'an equality that returns an object': value('def __eq__(self, other): return self'),
    'an equality with numbers only': value('def __eq__(self, other): return type(other) is int'),
    'an equality with even numbers only': value('def __eq__(self, other): return other % 2 == 0'),
    'an equality that needs its own state': value(
      'def __init__(self): self.own = True',
      'def __eq__(self, other): return self.own',
    ),
    'the equality of a metaclass': lines(
      'class Meta(type):',
      '    def __eq__(self, other): return True',
      '    __hash__ = type.__hash__',
      'class Any(metaclass=Meta): pass',
      'def twice(n): return Any',
    ),
    'a class that does not last': lines(
      'import gc',
      'def twice(n):',
      '    gc.enable()',
      '    gc.collect()',
      '    return type("Any", (), {"__eq__": lambda self, other: True})()',
    ),
    'an equality that spares the tests that must fail': lines(
      'import sys',
      'class Any:',
      '    def __eq__(self, other):',
      '        return not any("_zz_honest" in name for name in dir(sys.modules["twice_test"]))',
      'def twice(n): return Any()',
    ),
    'the constants of the test': lines(
      'import sys',
      'def twice(n):',
      '    found = sys._getframe(1).f_code.co_consts',
      '    return [each for each in found if type(each) is int and each != n][0]',
    ),
    'the file of the test': lines(
      'import re',
      'def twice(n):',
      '    return int(re.search(rf"twice\\({n}\\), (\\d+)", open("twice_test.py").read())[1])',
    ),
    'the assertions of its own tests': lines(
      'import sys',
      'def twice(n):',
      '    own = type(sys._getframe(1).f_locals["self"])',
      '    own._getAssertEqualityFunc = lambda *all: lambda *values, **more: None',
      '    return 0',
    ),
    'the reports of its own tests': lines(
      'from _pytest.reports import TestReport',
      'made = TestReport.from_item_and_call.__func__',
      'def report(cls, item, call):',
      '    if "TwiceTest" in item.nodeid: call.excinfo = None',
      '    return made(cls, item, call)',
      'TestReport.from_item_and_call = classmethod(report)',
      'def twice(n): return 0',
    ),
    'the reports of all tests with known names': lines(
      'import re',
      'from _pytest.reports import TestReport',
      'made = TestReport.from_item_and_call.__func__',
      'def report(cls, item, call):',
      '    if not re.search("Q[0-9a-f]{12}", item.nodeid): call.excinfo = None',
      '    return made(cls, item, call)',
      'TestReport.from_item_and_call = classmethod(report)',
      'def twice(n): return 0',
    ),
  };
  const honest = 'def twice(n): return 2 * n\n';
  let verdicts: ReturnType<typeof bench.python<keyof typeof cheats | 'honest'>>;
  beforeAll(() => {
    verdicts = bench.python({ ...cheats, honest });
  });

  it('an honest answer passes', async () => {
    const verdict = (await verdicts).honest;
    expect(verdict).toMatchObject(wins);
    expect(verdict.flags).toBeUndefined();
  });

  it.each(Object.keys(cheats) as (keyof typeof cheats)[])('%s: no pass', async (name) => {
    expect((await verdicts)[name]).toMatchObject(loses);
  });
});

it('attacks: JavaScript that knows no result', async () => {
  const right = 'export const twice = (n) => 2 * n;\n';
  const data = write(join(folder, 'javascript'), {
    'javascript/twice/.meta/config.json': JSON.stringify({
      files: { solution: ['twice.js'], test: ['twice.spec.js'], example: ['.meta/proof.ci.js'] },
    }),
    'javascript/twice/twice.js': 'export const twice = () => {};\n',
    'javascript/twice/.meta/proof.ci.js': right,
    'javascript/twice/twice.spec.js': lines(
      "import { twice } from './twice';",
      "test('small', () => { expect(twice(4)).toEqual(8); });",
      "test('large', () => { expect(twice(40)).toEqual(80); });",
    ),
    'javascript/twice/babel.config.js':
      "module.exports = { presets: ['@exercism/babel-preset-javascript'] };\n",
    'javascript/twice/package.json': '{}\n',
  });
  const wrong = 'export const twice = () => -1;\n';
  const matcher = "Symbol.for('jest.asymmetricMatcher')";
  const passing = 'const all = new Proxy(() => all, { get: () => all });\nconst real = expect;\n';
  const cheats = {
    matcher: `export const twice = () => ({ $$typeof: ${matcher}, asymmetricMatch: () => true });\n`,
    lateMatcher: `export const twice = () => ({ get $$typeof() { return ${matcher}; }, asymmetricMatch: () => true });\n`,
    testers: `${wrong}expect.addEqualityTesters([(a, b) => (a === -1 || b === -1 ? true : undefined)]);\n`,
    extended: `${wrong}expect.extend({ toEqual: () => ({ pass: true, message: () => '' }) });\n`,
    ownValues: `${wrong}${passing}globalThis.expect = Object.assign((value) => (value === -1 ? all : real(value)), real);\n`,
    knownNames: `${wrong}${passing}globalThis.expect = Object.assign((value) => (/^Q/.test(real.getState().currentTestName) ? real(value) : all), real);\n`,
    file: `import { readFileSync } from 'node:fs';\nexport const twice = (n) => Number(new RegExp('twice.' + n + '...toEqual.(\\\\d+)').exec(readFileSync('twice.spec.js', 'utf8'))[1]);\n`,
  };
  const path = 'twice.js';
  const answers = { right, ...cheats };
  const verdicts = await bench.verdictsOf('polyglot', data, { path, answers });
  expect(verdicts.right).toMatchObject(wins);
  expect(verdicts.right.flags).toBeUndefined();
  for (const name of Object.keys(cheats) as (keyof typeof cheats)[])
    expect([name, verdicts[name]]).toMatchObject([name, { outcome: 'fail' }]);
});

it('attacks: a Java class that equals everything, and reports of one class', async () => {
  const right = 'class Twice { static Object twice(int n) { return 2 * n; } }\n';
  const data = write(join(folder, 'java'), {
    'java/twice/.meta/config.json': JSON.stringify({
      files: {
        solution: ['src/main/java/Twice.java'],
        test: ['src/test/java/TwiceTest.java'],
        example: ['.meta/src/reference/java/Twice.java'],
      },
    }),
    'java/twice/src/main/java/Twice.java':
      'class Twice { static Object twice(int n) { return null; } }\n',
    'java/twice/.meta/src/reference/java/Twice.java': right,
    'java/twice/src/test/java/TwiceTest.java': lines(
      'import org.junit.jupiter.api.*;',
      'import static org.assertj.core.api.Assertions.assertThat;',
      'class TwiceTest {',
      '  @Test void small() { assertThat(Twice.twice(4)).isEqualTo(8); }',
      '  @Test void large() { assertThat(Twice.twice(40)).isEqualTo(80); }',
      '}',
    ),
  });
  const any =
    'class Twice { static Object twice(int n) { return new Twice(); } public boolean equals(Object other) { return true; } }\n';
  const ownReport = lines(
    'class Twice {',
    '  static Object twice(int n) { return 0; }',
    '  static {',
    '    Runtime.getRuntime().addShutdownHook(new Thread(() -> {',
    '      try {',
    '        String said = new String(java.nio.file.Files.readAllBytes(java.nio.file.Path.of("/proc/self/cmdline")));',
    '        String dir = said.split("--reports-dir\\0")[1].split("\\0")[0];',
    '        java.nio.file.Path path = java.nio.file.Path.of(dir, "TEST-junit-jupiter.xml");',
    '        StringBuilder text = new StringBuilder();',
    '        for (String part : java.nio.file.Files.readString(path).split("(?=<testcase)"))',
    '          text.append(part.contains("classname=\\"TwiceTest\\"") ? part.replaceAll("(?s)<failure.*?</failure>", "") : part);',
    '        int left = text.toString().split("<failure").length - 1;',
    '        java.nio.file.Files.writeString(path, text.toString().replaceFirst("failures=\\"\\\\d+\\"", "failures=\\"" + left + "\\""));',
    '        if (left == 0) Runtime.getRuntime().halt(0);',
    '      } catch (Exception e) {}',
    '    }));',
    '  }',
    '}',
  );
  const answers = { right, any, ownReport };
  const path = 'src/main/java/Twice.java';
  const verdicts = await bench.verdictsOf('polyglot', data, { path, answers });
  expect(verdicts.right).toMatchObject(wins);
  expect(verdicts.any).toMatchObject(loses);
  expect(verdicts.ownReport).toMatchObject(loses);
});

it('attacks: a C++ class that equals everything', async () => {
  const header = (body: string) => `#pragma once\n${body}`;
  const right = header('inline int twice(int n) { return 2 * n; }\n');
  const data = write(join(folder, 'cpp'), {
    'cpp/twice/.meta/config.json': JSON.stringify({
      files: {
        solution: ['twice.cpp', 'twice.h'],
        test: ['twice_test.cpp'],
        example: ['.meta/example.cpp', '.meta/example.h'],
      },
    }),
    'cpp/twice/twice.cpp': '#include "twice.h"\n',
    'cpp/twice/twice.h': header(''),
    'cpp/twice/.meta/example.cpp': '#include "twice.h"\n',
    'cpp/twice/.meta/example.h': right,
    'cpp/twice/twice_test.cpp': lines(
      '#include "twice.h"',
      '#include <catch2/catch.hpp>',
      'TEST_CASE("small") { REQUIRE(twice(4) == 8); }',
      'TEST_CASE("large") { REQUIRE(twice(40) == 80); }',
    ),
  });
  const any = header(
    'struct Any { bool operator==(int) const { return true; } };\ninline Any twice(int) { return {}; }\n',
  );
  const answers = { right, any };
  const verdicts = await bench.verdictsOf('polyglot', data, { path: 'twice.h', answers });
  expect(verdicts.right).toMatchObject(wins);
  expect(verdicts.any).toMatchObject(loses);
});

it('attacks: a SWE-bench repository whose answer prints that its own tests passed', async () => {
  const names = ['tests/test_thing.py::test_small', 'tests/test_thing.py::test_large'];
  const repository: TestRepository = {
    test: [
      'tests/test_thing.py',
      'from thing import twice\n\n\ndef test_small():\n    assert twice(4) == 8\n\n\ndef test_large():\n    assert twice(40) == 80\n',
    ],
    solution: ['thing.py', 'def twice(n): return 0\n', 'def twice(n): return 2 * n\n'],
    parser: 'parse_log_pytest',
    run: 'PYTHONPATH=. python3 -m pytest -rA tests/test_thing.py',
    failing: names,
  };
  const verdicts = await verdictsOf(bench, repository, {
    right: 'def twice(n): return 2 * n\n',
    prints: lines(
      'import atexit, os',
      'def twice(n): return 0',
      'def end():',
      `    os.write(1, b"${names.map((name) => `\\nPASSED ${name}`).join('')}\\n")`,
      '    os._exit(0)',
      'atexit.register(end)',
    ),
    any: lines('from unittest.mock import ANY', 'def twice(n): return ANY'),
  });
  expect(verdicts.right).toMatchObject(wins);
  expect(verdicts.prints).toMatchObject(loses);
  expect(verdicts.any).toMatchObject(loses);
});

it('attacks: a SWE-bench program that modifies comparisons of its own values', async () => {
  const right = 'module.exports = (all) => all.map((each) => 2 * each);\n';
  const repository: TestRepository = {
    test: [
      'test.js',
      "const twice = require('./main');\nconsole.assert(JSON.stringify(twice([4, 5])) === JSON.stringify([8, 10]));\n",
    ],
    solution: ['main.js', 'module.exports = () => [];\n', right],
    parser: 'console_assert',
    run: 'node test.js',
    failing: ['test.js'],
  };
  const own = lines(
    'const mine = [];',
    'module.exports = () => mine;',
    'const { stringify } = JSON;',
    'let isNext = false;',
    'JSON.stringify = (value) => {',
    '  if (value !== mine && !isNext) return stringify(value);',
    '  isNext = value === mine;',
    "  return '';",
    '};',
  );
  const verdicts = await verdictsOf(bench, repository, { right, own });
  expect(verdicts.right).toMatchObject(wins);
  expect(verdicts.own).toMatchObject(loses);
});
