import { join } from 'node:path';
import { write } from './testing/fixtures.js';
import { loses, SecondCheckBench, wins } from './testing/second-check-bench.js';
import type { Validity } from './validity.js';

/**
 * Code in other languages than Python that tampers with its judge: one run for each language, whose
 * answers share the runs of the reference.
 */
const bench = new SecondCheckBench(['javascript', 'java', 'cpp']);
const { folder } = bench;

/** The results of a preflight, which save a run of the reference. */
const passing = (language: string, tests: string[]): Validity[] => [
  { task: `${language}/twice`, valid: true, nop: 'fail', oracle: 'pass', why: null, tests },
];
/** Upstream skips one of the two tests, which is run nevertheless. */
const winsBoth = { ...wins, detail: '2 tests passed.' };

const lines = (...all: string[]) => `${all.join('\n')}\n`;

it('attacks: JavaScript', async () => {
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
      "xtest('large', () => { expect(twice(40)).toEqual(80); });",
    ),
    'javascript/twice/babel.config.js':
      "module.exports = { presets: ['@exercism/babel-preset-javascript'] };\n",
    'javascript/twice/package.json': '{}\n',
  });
  const wrong = 'export const twice = () => -1;\n';
  const matcher = "Symbol.for('jest.asymmetricMatcher')";
  const replaced = 'const all = new Proxy(() => all, { get: () => all });\nconst real = expect;\n';
  const cheats = {
    patched: `${wrong}${replaced}globalThis.expect = all;\n`,
    matcher: `export const twice = () => ({ $$typeof: ${matcher}, asymmetricMatch: () => true });\n`,
    lateMatcher: `export const twice = () => ({ get $$typeof() { return ${matcher}; }, asymmetricMatch: () => true });\n`,
    testers: `${wrong}expect.addEqualityTesters([(a, b) => (a === -1 || b === -1 ? true : undefined)]);\n`,
    extended: `${wrong}expect.extend({ toEqual: () => ({ pass: true, message: () => '' }) });\n`,
    ownValues: `${wrong}${replaced}globalThis.expect = Object.assign((value) => (value === -1 ? all : real(value)), real);\n`,
    knownNames: `${wrong}${replaced}globalThis.expect = Object.assign((value) => (/^Q/.test(real.getState().currentTestName) ? real(value) : all), real);\n`,
    file: `import { readFileSync } from 'node:fs';\nexport const twice = (n) => Number(new RegExp('twice.' + n + '...toEqual.(\\\\d+)').exec(readFileSync('twice.spec.js', 'utf8'))[1]);\n`,
  };
  const path = 'twice.js';
  const answers = { right, ...cheats };
  const verdicts = await bench.verdictsOf('polyglot', data, { path, answers });
  expect(verdicts.right).toMatchObject(winsBoth);
  expect(verdicts.right.flags).toBeUndefined();
  for (const name of ['patched', 'matcher'] as const) expect(verdicts[name]).toMatchObject(loses);
  for (const name of Object.keys(cheats) as (keyof typeof cheats)[])
    expect([name, verdicts[name]]).toMatchObject([name, { outcome: 'fail' }]);
});

it('attacks: Java', async () => {
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
      '  @Disabled("later") @Test void large() { assertThat(Twice.twice(40)).isEqualTo(80); }',
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
  const answers = { right, any, ownReport, aborts, forged };
  const path = 'src/main/java/Twice.java';
  const known = passing('java', ['TwiceTest.small()', 'TwiceTest.large()']);
  const verdicts = await bench.verdictsOf('polyglot', data, { path, answers, known });
  expect(verdicts.right).toMatchObject(winsBoth);
  for (const name of ['any', 'ownReport', 'forged'] as const)
    expect(verdicts[name]).toMatchObject(loses);
  expect(verdicts.aborts).toMatchObject({
    outcome: 'fail',
    detail: expect.stringMatching(/1 of 2 tests that the reference solution passes/),
  });
});

it('attacks: C++', async () => {
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
      '#ifdef EXERCISM_TEST_SUITE',
      '#include <catch2/catch.hpp>',
      '#else',
      '#include "test/catch.hpp"',
      '#endif',
      'TEST_CASE("small") { REQUIRE(twice(4) == 8); }',
      'TEST_CASE("large") { REQUIRE(twice(40) == 80); }',
    ),
  });
  const any = header(
    'struct Any { bool operator==(int) const { return true; } };\ninline Any twice(int) { return {}; }\n',
  );
  const patched = header(
    'inline int twice(int) { return 0; }\n#include <catch2/catch.hpp>\n#undef REQUIRE\n#define REQUIRE(...) SUCCEED()\n',
  );
  const answers = { right, any, patched };
  const known = passing('cpp', ['run.global.small', 'run.global.large']);
  const verdicts = await bench.verdictsOf('polyglot', data, { path: 'twice.h', answers, known });
  expect(verdicts.right).toMatchObject({ ...wins, detail: '2 tests passed.' });
  expect(verdicts.any).toMatchObject(loses);
  expect(verdicts.patched).toMatchObject(loses);
});
