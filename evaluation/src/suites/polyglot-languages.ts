import { posix } from 'node:path';
import { file, type Entry } from '../entries.js';
import type { ToolchainName, Verifier } from '../model.js';
import {
  cppDecoys,
  goDecoys,
  javaDecoyFile,
  javaDecoys,
  jestDecoyTests,
  pythonDecoys,
  rustDecoys,
  type Decoys,
} from './decoys.js';
import {
  inAnotherOrder,
  jestReporter,
  jestReporterPath,
  judgeSealed,
  pytestPlugin,
  pythonPath,
  sealFiles,
  seedOf,
} from './seal.js';
import { judgePrinted, goTests, rustTests } from './printed-tests.js';
import { judgeJunit } from './test-reports.js';

export interface Language {
  toolchain: ToolchainName;
  /** Tests that the exercise skips for beginners run all the same. */
  unskip(test: Entry): Entry;
  /** A folder that is carried whole, where solutions may have files of their own; it ends with a slash. */
  sources?: string;
  /** Where a reference file goes, if not in the stub's place. */
  examplePlace?(path: string): string;
  /** The reference's own manifest, with the packages that it needs, and whose place it takes. */
  manifest?: { example: string; place: string };
  verifier(files: {
    solution: string[];
    test: string[];
  }): Pick<Verifier, 'files' | 'command' | 'env' | 'sealed' | 'collect' | 'judge'>;
  /** The second run of a pass: the verification with other arguments, and decoys among its tests. */
  check: {
    decoys: Decoys;
    /** In the test file itself, or a file of their own. */
    file?(word: string): Entry;
    change(verifier: Verifier, word: string): Verifier;
  };
}

export const languageOf = (name: string): Language | undefined =>
  Object.hasOwn(languages, name) ? languages[name] : undefined;

/** Random, so that a report which the solution made up has another name. */
const report = '/tmp/{proof}.xml';

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
      ...sealFiles(jestReporter),
    ],
    command: [
      'node_modules/.bin/jest',
      '--ci',
      // Before the reporters, which take every word that follows.
      './',
      '--reporters=default',
      `--reporters=${jestReporterPath}`,
    ],
    sealed: true,
    env,
    collect: [],
    judge: judgeSealed,
  }),
  check: {
    decoys: jestDecoyTests,
    change: (verifier, word) => ({
      ...verifier,
      command: [...verifier.command, '--randomize', `--seed=${seedOf(word)}`],
    }),
  },
};

const python: Language = {
  toolchain: 'base',
  unskip: asIs,
  verifier: ({ test }) => ({
    files: sealFiles(pytestPlugin),
    command: [
      'python3',
      '-P',
      '-m',
      'pytest',
      '-p',
      'belay_seal',
      '-p',
      'no:cacheprovider',
      ...test,
    ],
    sealed: true,
    env: { ...env, PYTHONPATH: pythonPath },
    collect: [],
    judge: judgeSealed,
  }),
  check: { decoys: pythonDecoys, change: inAnotherOrder },
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
    judge: (outcome) => judgeJunit(outcome, '/tmp/{proof}/TEST-junit-jupiter.xml'),
  }),
  check: {
    decoys: javaDecoys,
    file: javaDecoyFile,
    change: (verifier, word) =>
      withArguments(
        verifier,
        ` --config=junit.jupiter.testmethod.order.default='org.junit.jupiter.api.MethodOrderer$Random' --config=junit.jupiter.execution.order.random.seed=${seedOf(word)}`,
      ),
  },
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
      `mkdir -p /tmp/t/test && ln -s /usr/include/catch2/catch.hpp /tmp/t/test/ && g++ -std=c++17 -pthread -I/tmp/t -DEXERCISM_TEST_SUITE -DEXERCISM_RUN_ALL_TESTS *.cpp -ltbb -o /tmp/t/run && /tmp/t/run -r junit -o ${report}`,
    ],
    env,
    collect: [report],
    judge: (outcome) => judgeJunit(outcome, report),
  }),
  check: {
    decoys: cppDecoys,
    change: (verifier, word) => withArguments(verifier, ` --order rand --rng-seed ${seedOf(word)}`),
  },
};

/** At the end of a shell line. */
const withArguments = (verifier: Verifier, more: string): Verifier => ({
  ...verifier,
  command: verifier.command.with(-1, `${verifier.command.at(-1)}${more}`),
});

/** Tests whose results are in the runner's own words, as the tests of the reference's run must be. */
const go: Language = {
  toolchain: 'go',
  unskip: asIs,
  verifier: () => ({
    files: [],
    command: ['go', 'test', '-v', './...'],
    env: { ...env, GOCACHE: '/tmp/go', GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' },
    collect: [],
    judge: judgePrinted(goTests),
  }),
  check: {
    decoys: goDecoys,
    change: (verifier, word) => ({
      ...verifier,
      command: [...verifier.command, `-shuffle=${seedOf(word)}`],
    }),
  },
};

const rust: Language = {
  toolchain: 'rust',
  unskip: asIs,
  manifest: { example: '.meta/Cargo-example.toml', place: 'Cargo.toml' },
  verifier: () => ({
    files: [],
    command: ['cargo', 'test', '--offline', '--', '--include-ignored'],
    env: { ...env, CARGO_HOME: '/tmp/cargo', CARGO_TARGET_DIR: '/tmp/target' },
    collect: [],
    judge: judgePrinted(rustTests),
  }),
  check: {
    decoys: rustDecoys,
    change: (verifier) => ({ ...verifier, command: [...verifier.command, '--test-threads=1'] }),
  },
};

const languages: Record<string, Language> = { javascript, python, java, cpp, go, rust };

export const languageNames = Object.keys(languages);
