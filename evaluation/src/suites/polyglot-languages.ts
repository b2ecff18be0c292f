import { posix } from 'node:path';
import { file, type Entry } from '../entries.js';
import type { Outcome, ToolchainName, Verdict, Verifier } from '../model.js';
import { jestCounts, judgeReport, junitCounts } from './test-reports.js';

export interface Language {
  toolchain: ToolchainName;
  /** Tests that the exercise skips for beginners run all the same. */
  unskip(test: Entry): Entry;
  /** A folder that is carried whole, where solutions may have files of their own; it ends with a slash. */
  sources?: string;
  /** Where a reference file goes, if not in the stub's place. */
  examplePlace?(path: string): string;
  verifier(files: {
    solution: string[];
    test: string[];
  }): Pick<Verifier, 'files' | 'command' | 'env' | 'collect' | 'judge'>;
}

export const languageOf = (name: string): Language | undefined => languages[name];

/** Random, so that a report which the solution made up has another name. */
const report = '/tmp/{proof}.xml';

const junit = (outcome: Outcome): Verdict =>
  judgeReport(outcome, junitCounts(outcome.files.get(report)));

const asIs = (test: Entry): Entry => test;

const replaced = (from: RegExp, to: string) => (test: Entry) => ({
  ...test,
  bytes: Buffer.from(test.bytes.toString().replace(from, to)),
});

const env = { HOME: '/tmp', PYTHONDONTWRITEBYTECODE: '1' };

const javascript: Language = {
  toolchain: 'javascript',
  unskip: replaced(/\bxtest\(/g, 'test('),
  verifier: () => ({
    files: [
      {
        ...file('/app/node_modules', ''),
        kind: 'link',
        target: '/toolchain/node_modules',
      },
    ],
    command: ['node_modules/.bin/jest', '--ci', '--json', '--outputFile=/tmp/{proof}.json', './'],
    env,
    collect: ['/tmp/{proof}.json'],
    judge: (outcome) => judgeReport(outcome, jestCounts(outcome.files.get('/tmp/{proof}.json'))),
  }),
};

const python: Language = {
  toolchain: 'base',
  unskip: asIs,
  verifier: ({ test }) => ({
    files: [],
    command: [
      'python3',
      '-P',
      '-m',
      'pytest',
      '-p',
      'no:cacheprovider',
      `--junitxml=${report}`,
      ...test,
    ],
    env,
    collect: [report],
    judge: junit,
  }),
};

const jars =
  'CP=$(ls /usr/share/java/{junit-jupiter*,junit-platform-{commons,console,engine,launcher,reporting}*,opentest4j*,apiguardian-api*,picocli*,univocity-parsers*,assertj-core*,byte-buddy*}.jar 2>/dev/null | tr "\\n" :)';

const java: Language = {
  toolchain: 'java',
  unskip: replaced(/@Disabled\([^)]*\)/g, ''),
  sources: 'src/main/java/',
  examplePlace: (path) => `src/main/java/${posix.basename(path)}`,
  verifier: () => ({
    files: [],
    command: [
      'bash',
      '-c',
      `${jars}; javac -d /tmp/out -cp "$CP" src/main/java/*.java src/test/java/*.java && java -cp "$CP" org.junit.platform.console.ConsoleLauncher --classpath /tmp/out --scan-classpath /tmp/out --reports-dir /tmp/{proof}`,
    ],
    env,
    collect: ['/tmp/{proof}/TEST-junit-jupiter.xml'],
    judge: (outcome) =>
      judgeReport(outcome, junitCounts(outcome.files.get('/tmp/{proof}/TEST-junit-jupiter.xml'))),
  }),
};

const cpp: Language = {
  toolchain: 'cpp',
  unskip: asIs,
  verifier: () => ({
    files: [
      file('/app/belay_main.cpp', '#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n'),
    ],
    command: [
      'bash',
      '-c',
      `mkdir -p /tmp/t/test && ln -s /usr/include/catch2/catch.hpp /tmp/t/test/ && g++ -std=c++17 -pthread -I/tmp/t -DEXERCISM_TEST_SUITE -DEXERCISM_RUN_ALL_TESTS *.cpp -o /tmp/t/run && /tmp/t/run -r junit -o ${report}`,
    ],
    env,
    collect: [report],
    judge: junit,
  }),
};

const languages: Record<string, Language> = { javascript, python, java, cpp };
