import { join } from 'node:path';
import { harborData, terminalBenchData, write } from './testing/fixtures.js';
import { differs, loses, SecondCheckBench, wins } from './testing/second-check-bench.js';
import type { Validity } from './validity.js';

const bench = new SecondCheckBench(['javascript', 'java', 'cpp']);
const { folder } = bench;

/** The results of a preflight, which save a run of the reference. */
const passing = (language: string, tests: string[]): Validity[] => [
  { task: `${language}/twice`, valid: true, nop: 'fail', oracle: 'pass', why: null, tests },
];

const exercise = (
  root: string,
  {
    language,
    solution,
    test,
    example,
  }: Record<'language' | 'solution' | 'test' | 'example', [string, string]>,
) =>
  write(root, {
    [`${language[0]}/twice/.meta/config.json`]: JSON.stringify({
      files: { solution: [solution[0]], test: [test[0]], example: [example[0]] },
    }),
    [`${language[0]}/twice/${solution[0]}`]: solution[1],
    [`${language[0]}/twice/${test[0]}`]: test[1],
    [`${language[0]}/twice/${example[0]}`]: example[1],
  });

describe('attacks: Python that tampers with its judge', () => {
  const wrong = 'def twice(n): return 0\n';
  const cheats = {
    assertEqual: `${wrong}import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n`,
    TestReport: `${wrong}from _pytest.reports import TestReport\nmade = TestReport.from_item_and_call.__func__\ndef from_item_and_call(cls, item, call):\n    call.excinfo = None\n    return made(cls, item, call)\nTestReport.from_item_and_call = classmethod(from_item_and_call)\n`,
    'the run of a test': `${wrong}import unittest\nunittest.TestCase.run = lambda self, result=None: (result.startTest(self), result.addSuccess(self), result.stopTest(self))\n`,
    'a number that equals everything':
      'def twice(n):\n    class Any(int):\n        def __eq__(self, other): return True\n    return Any(0)\n',
  };
  const own =
    'class Own(int):\n    def __eq__(self, other): return int(self) == other\n    __hash__ = int.__hash__\ndef twice(n): return Own(2 * n)\n';
  let verdicts: ReturnType<typeof bench.python<keyof typeof cheats | 'own'>>;
  beforeAll(() => {
    verdicts = bench.python({ ...cheats, own });
  });

  it('a custom equality is not a cheat', async () => {
    expect((await verdicts).own).toMatchObject(wins);
  });

  it.each(Object.keys(cheats) as (keyof typeof cheats)[])('%s does not pass', async (name) => {
    expect((await verdicts)[name]).toMatchObject(loses);
  });
});

describe('attacks: other languages that tamper with their judge', () => {
  it.concurrent('JavaScript', async () => {
    const right = 'export const twice = (n) => 2 * n;\n';
    const data = exercise(join(folder, 'javascript'), {
      language: ['javascript', ''],
      solution: ['twice.js', 'export const twice = () => {};\n'],
      example: ['.meta/proof.ci.js', right],
      test: [
        'twice.spec.js',
        "import { twice } from './twice';\ntest('small', () => { expect(twice(4)).toEqual(8); });\nxtest('large', () => { expect(twice(40)).toEqual(80); });\n",
      ],
    });
    write(data, {
      'javascript/twice/babel.config.js':
        "module.exports = { presets: ['@exercism/babel-preset-javascript'] };\n",
      'javascript/twice/package.json': '{}\n',
    });
    const patched = `export const twice = () => 0;\nconst all = new Proxy(() => all, { get: () => all });\nglobalThis.expect = all;\n`;
    const any = `export const twice = () => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true });\n`;
    const answers = { right, patched, any };
    const verdicts = await bench.verdictsOf('polyglot', data, { path: 'twice.js', answers });
    expect(verdicts.right).toMatchObject({ ...wins, detail: '2 tests passed.' });
    expect(verdicts.patched).toMatchObject(loses);
    expect(verdicts.any).toMatchObject(loses);
  });

  it.concurrent('C++', async () => {
    const right = 'inline int twice(int n) { return 2 * n; }\n';
    const header = (body: string) => `#pragma once\n${body}`;
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
      'cpp/twice/.meta/example.h': header(right),
      'cpp/twice/twice_test.cpp':
        '#include "twice.h"\n#ifdef EXERCISM_TEST_SUITE\n#include <catch2/catch.hpp>\n#else\n#include "test/catch.hpp"\n#endif\nTEST_CASE("small") { REQUIRE(twice(4) == 8); }\nTEST_CASE("large") { REQUIRE(twice(40) == 80); }\n',
    });
    const known = passing('cpp', ['run.global.small', 'run.global.large']);
    const patched =
      'inline int twice(int) { return 0; }\n#include <catch2/catch.hpp>\n#undef REQUIRE\n#define REQUIRE(...) SUCCEED()\n';
    const answers = { right: header(right), patched: header(patched) };
    const verdicts = await bench.verdictsOf('polyglot', data, { path: 'twice.h', answers, known });
    expect(verdicts.right).toMatchObject({ ...wins, detail: '2 tests passed.' });
    expect(verdicts.patched).toMatchObject(loses);
  });

  it.concurrent('Java', async () => {
    const right = 'class Twice { static int twice(int n) { return 2 * n; } }\n';
    const data = write(join(folder, 'java'), {
      'java/twice/.meta/config.json': JSON.stringify({
        files: {
          solution: ['src/main/java/Twice.java'],
          test: ['src/test/java/TwiceTest.java'],
          example: ['.meta/src/reference/java/Twice.java'],
        },
      }),
      'java/twice/src/main/java/Twice.java':
        'class Twice { static int twice(int n) { return 0; } }\n',
      'java/twice/.meta/src/reference/java/Twice.java': right,
      'java/twice/src/test/java/TwiceTest.java':
        'import org.junit.jupiter.api.*;\nimport static org.assertj.core.api.Assertions.assertThat;\nclass TwiceTest {\n  @Test void small() { assertThat(Twice.twice(4)).isEqualTo(8); }\n  @Disabled("later") @Test void large() { assertThat(Twice.twice(40)).isEqualTo(80); }\n}\n',
    });
    const known = passing('java', ['TwiceTest.small()', 'TwiceTest.large()']);
    const aborts =
      'class Twice { static int twice(int n) { if (n > 4) throw new org.opentest4j.TestAbortedException(); return 8; } }\n';
    const forged = `class Twice {
  static int twice(int n) { return 0; }
  static {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        String said = new String(java.nio.file.Files.readAllBytes(java.nio.file.Path.of("/proc/self/cmdline")));
        String dir = said.split("--reports-dir\\0")[1].split("\\0")[0];
        java.nio.file.Path path = java.nio.file.Path.of(dir, "TEST-junit-jupiter.xml");
        java.nio.file.Files.writeString(path, "<testsuite name=\\"x\\" tests=\\"2\\" skipped=\\"0\\" failures=\\"0\\" errors=\\"0\\"><testcase name=\\"small()\\" classname=\\"TwiceTest\\"/><testcase name=\\"large()\\" classname=\\"TwiceTest\\"/></testsuite>");
      } catch (Exception e) {}
      Runtime.getRuntime().halt(0);
    }));
  }
}
`;
    const answers = { right, aborts, forged };
    const path = 'src/main/java/Twice.java';
    const verdicts = await bench.verdictsOf('polyglot', data, { path, answers, known });
    expect(verdicts.right).toMatchObject({ ...wins, detail: '2 tests passed.' });
    expect(verdicts.aborts).toMatchObject({
      outcome: 'fail',
      detail: expect.stringMatching(/1 of 2 tests that the reference solution passes/),
    });
    expect(verdicts.forged).toMatchObject(loses);
  });
});

it.concurrent('attacks: a terminal task whose answer modifies pytest in its process', async () => {
  const data = terminalBenchData(join(folder, 'terminal'));
  const right = 'def answer(): return 42\n';
  const any = 'class Any:\n    def __eq__(self, other): return True\ndef answer(): return Any()\n';
  const patched =
    'from _pytest.reports import TestReport\nmade = TestReport.from_item_and_call.__func__\ndef made_up(cls, item, call):\n    call.excinfo = None\n    return made(cls, item, call)\nTestReport.from_item_and_call = classmethod(made_up)\ndef answer(): return 0\n';
  const answers = { right, any, patched };
  const path = '/app/answer.py';
  const verdicts = await bench.verdictsOf('terminal-bench', data, { path, answers });
  expect(verdicts.right).toMatchObject(wins);
  expect(verdicts.any).toMatchObject(loses);
  expect(verdicts.patched).toMatchObject(loses);
});

it('attacks: each step of a Harbor task is checked as a task of one step is', async () => {
  const test = (n: number) =>
    `import sys\nsys.path.insert(0, "/app")\nfrom twice import twice\ndef test_twice(): assert twice(${n}) == ${2 * n}\n`;
  const script =
    '#!/bin/bash\nuvx -w pytest==8 pytest /tests/test_twice.py -rA\nif [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n';
  const step = (name: string, n: number) => ({
    [`answer/steps/${name}/instruction.md`]: 'Write twice.py.\n',
    [`answer/steps/${name}/solution/solve.sh`]:
      'echo "def twice(n): return 2 * n" > /app/twice.py\n',
    [`answer/steps/${name}/tests/test.sh`]: script,
    [`answer/steps/${name}/tests/test_twice.py`]: test(n),
  });
  const data = harborData(join(folder, 'steps'));
  write(data, {
    'answer/task.toml': '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n',
    ...step('one', 4),
    ...step('two', 5),
  });
  const wrong = 'def twice(n): return 0\n';
  const answers = {
    honest: 'def twice(n): return 2 * n\n',
    report: `${wrong}from _pytest.reports import TestReport\nmade = TestReport.from_item_and_call.__func__\ndef from_item_and_call(cls, item, call):\n    call.excinfo = None\n    return made(cls, item, call)\nTestReport.from_item_and_call = classmethod(from_item_and_call)\n`,
    any: 'class Any:\n    def __eq__(self, other): return True\ndef twice(n): return Any()\n',
    skipped: 'import pytest\ndef twice(n): pytest.skip()\n',
  };
  const path = '/app/twice.py';
  const verdicts = await bench.verdictsOf('harbor', data, { path, answers });
  expect(verdicts.honest).toMatchObject(wins);
  for (const cheat of [verdicts.report, verdicts.any, verdicts.skipped])
    expect(cheat).toMatchObject({ outcome: 'fail' });
});

it('attacks: a Harbor script without pytest, whose answer distinguishes the runs', async () => {
  const data = harborData(join(folder, 'harbor'));
  write(data, {
    'answer/tests/test.sh':
      '#!/bin/bash\nif [ "$(python3 /app/answer.py)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n',
    'answer/solution/solve.sh': 'echo "print(42)" > /app/answer.py\n',
  });
  const answers = {
    honest: 'print(42)\n',
    once: 'import os\nprint(0 if "PYTHONHASHSEED" in os.environ else 42)\n',
  };
  const path = '/app/answer.py';
  const { honest, once } = await bench.verdictsOf('harbor', data, { path, answers });
  expect(honest).toMatchObject(wins);
  expect(honest.flags).toBeUndefined();
  expect(once).toMatchObject({
    outcome: 'fail',
    detail: expect.stringMatching(differs),
    flags: [expect.stringMatching(/^A second run has a different verdict/)],
  });
});
