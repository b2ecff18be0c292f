import { pytestRepository } from './testing/pytest-repository.js';
import { loses, SecondCheckBench, wins } from './testing/second-check-bench.js';
import { type TestRepository, verdictsOf } from './testing/test-repository.js';

/**
 * Variants of the tricks that docs/evaluation-attacks.md lists with 0, most of which spare the
 * tests that must fail.
 */
const bench = new SecondCheckBench();

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

it('attacks: a SWE-bench repository whose answer prints that its own tests passed', async () => {
  const names = pytestRepository.failing;
  const verdicts = await verdictsOf(bench, pytestRepository, {
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
