import { shellQuoted } from '@belay/protocol';
import { fileEntry } from '../../entries.js';
import { fail, type SecondRun, type Verifier, type VerifierOutput } from '../../model.js';
import { decoysOf, type DecoyKind } from '../decoys.js';
import { orderPlugin, pythonPath, seedOf } from '../seal.js';
import { jestResults } from './jest-results.js';
import { hiddenPaths, testFolderOf } from './paths.js';
import type { RunnableInstance } from './runnable-instance.js';
import { runnerNameOf, type RunnerName } from './parsers.js';
import { startLineOf } from './scripts.js';
import type { TestResults } from '../test-log.js';

/** How a runner's tests are run a second time. */
interface Runner {
  /** Absent for runners to which no test can be added: their tests only run once more. */
  decoys?: DecoyKind;
  /** The path for them: a hidden file, or a new one beside or above it; null if there is none. */
  place?(hidden: string, word: string): string | null;
  /** Changes the order of the tests in the script. */
  reorder?(script: string, seed: number): string;
  env?(seed: number): Record<string, string>;
  /** Reads further results from the log, if the parser does not name tests. */
  results?(log: string, tests: TestResults, at: { host: string; word: string }): TestResults;
}

const pythonFile = (hidden: string) =>
  /(^|\/)(tests?|test_[^/]*|[^/]*_tests?)\.py$/.test(hidden) ? hidden : null;
const hashSeed = (seed: number) => ({ PYTHONHASHSEED: String(seed) });

const pytest: Runner = {
  decoys: 'python',
  place: pythonFile,
  reorder: (script) => script.replaceAll(/\bPYTHONPATH=(?=\S)/g, `$&${pythonPath}:`),
  env: (seed) => ({
    ...hashSeed(seed),
    PYTHONPATH: pythonPath,
    PYTEST_ADDOPTS: '-p belay_order',
  }),
};

const mocha: Runner = {
  decoys: 'mocha',
  place: (hidden) => (/\.[cm]?js$/.test(hidden) ? hidden : null),
};

/** Excludes TypeScript, because a type checker would reject the whole file. */
const javascriptFile = (hidden: string) =>
  /(^|[._/-]|[a-z](?=S))([Ss]pecs?|tests?)\.[cm]?jsx?$/.test(hidden) ||
  /(^|\/)__tests__\/.*\.jsx?$/.test(hidden)
    ? hidden
    : null;

const inJest: Runner = { decoys: 'jest', place: javascriptFile };
/** For parsers that read only files from the log. */
const jestFiles: Runner = { ...inJest, results: jestResults };

/** Karma, and Mocha in a page. */
const inBrowser: Runner = { decoys: 'browser', place: javascriptFile };

const runners: Record<RunnerName | 'console', Runner> = {
  pytest,
  mocha,
  jestFiles,
  browser: inBrowser,
  again: {},
  django: {
    decoys: 'unittest',
    place: pythonFile,
    reorder: (script) => script.replaceAll(/\bruntests\.py /g, 'runtests.py --reverse '),
    env: hashSeed,
  },
  sympy: { decoys: 'functions', place: pythonFile, env: hashSeed },
  jasmine: {
    decoys: 'jasmine',
    place: (hidden, word) => {
      const folder = testFolderOf(hidden);
      return folder === undefined ? null : `${folder}/${word}-spec.js`;
    },
    reorder: (script, seed) =>
      script.replaceAll(/\/jasmine\b[^\n;&|]*/g, `$& --random=true --seed=${seed}`),
  },
  prism: {
    decoys: 'prism',
    place: (hidden, word) => {
      const [, folder] = /^(tests\/languages\/[^/]+)\/[^/]+\.test$/.exec(hidden) ?? [];
      return folder === undefined ? null : `${folder}/${word}_0.test`;
    },
  },
  calypso: {
    ...inJest,
    place: (hidden) => (/\/test\/[^/]+\.jsx?$/.test(hidden) ? hidden : null),
  },
  p5: {
    ...inBrowser,
    place: (hidden) => (/^test\/unit\/.*\.js$/.test(hidden) ? hidden : null),
  },
  console: {
    decoys: 'console',
    place: (hidden) => (hidden === 'test.js' ? hidden : null),
  },
};

/**
 * The second run of a pass: the same script, with decoys added to the hidden tests once these are
 * in place, and in another order if the runner has one. Without decoys, only names and results are
 * compared.
 */
export function instanceCheck(
  instance: RunnableInstance,
  verifier: Verifier,
  testsOf: (output: VerifierOutput) => TestResults | undefined,
): (word: string) => SecondRun {
  const runner = runnerOf(instance);
  const decoys = runner.decoys && decoysOf(runner.decoys);
  return (word) => {
    const host = placed(instance, runner, word);
    const seed = seedOf(word);
    const change = (script: string) =>
      withDecoysIn(runner.reorder?.(script, seed) ?? script, host ?? null);
    const files = verifier.files.map((entry) =>
      entry.path === '/verify/eval.sh'
        ? { ...entry, bytes: Buffer.from(change(entry.bytes.toString())) }
        : entry,
    );
    return {
      verifier: {
        ...verifier,
        files: [...files, fileEntry('/verify/decoys', decoys?.text(word) ?? ''), orderPlugin(word)],
        env: { ...verifier.env, ...runner.env?.(seed) },
        judge: (output) => {
          const tests = testsOf(output);
          const read =
            tests && host && runner.results
              ? runner.results(output.output, tests, { host, word })
              : tests;
          return fail('The second run.', 'wrong', { tests: read });
        },
      },
      decoys: (host && decoys?.count) || 0,
      honest: decoys?.honest ?? null,
    };
  };
}

function runnerOf({ log_parser: parser, version }: RunnableInstance): Runner {
  if (parser === 'console_assert') return runners.console;
  // Before 3.0 and after 8.6, the tests run in Mocha.
  const isMocha = parser === 'parse_log_lighthouse' && !/^[3-8]\./.test(version);
  return runners[isMocha ? 'again' : runnerNameOf(parser)];
}

/** Only files that exist after the test patch. */
function placed(instance: RunnableInstance, runner: Runner, word: string): string | undefined {
  const there = hiddenPaths(instance).filter((path) =>
    instance.test_patch.includes(`\n+++ b/${path}`),
  );
  return there.flatMap((path) => runner.place?.(path, word) ?? [])[0];
}

/** Inserts the decoys after the test patch and before the line that starts the tests. */
function withDecoysIn(script: string, host: string | null): string {
  if (host === null) return script;
  const lines = script.split('\n');
  const at = startLineOf(lines);
  return lines
    .toSpliced(Math.max(at, 0), 0, `cat /verify/decoys >> ${shellQuoted(host)}`)
    .join('\n');
}
