import { createHash, createHmac } from 'node:crypto';
import { posix } from 'node:path';
import { inflateSync } from 'node:zlib';
import { assetText } from '../asset-text.js';
import { fileEntry, folderEntry, type Entry } from '../entries.js';
import { decoysOf, withDecoys } from './decoys.js';
import { withWrongTests } from './wrong-expectations.js';
import type { TestResults } from './test-log.js';
import type { Counts } from './test-reports.js';
import {
  fail,
  invalid,
  pass,
  proofFile,
  type Verdict,
  type Verifier,
  type VerifierOutput,
} from '../model.js';

/** A test runner's report on a whole run. */
export interface SealedReport {
  tests: TestResults;
  /** Failures outside tests, such as files that could not be loaded. */
  errors: number;
}

/** Contains the key. Writable by everyone, so that the runner can remove the key. */
const sealFolder = '/verify-seal';
const plugins = '/verify-plugins';

/** A plugin of the folder `assets`. */
export type SealPlugin = 'belay_seal.py' | 'seal-reporter.cjs';

/**
 * A runner's plugin reads the key and removes it before any tested code is loaded. Once the run has
 * ended, it prints the report, sealed with the key, to the container's log. The engine keeps the
 * log, so printed lines cannot be changed, and the first line with a valid seal counts. Neither
 * arguments nor environment name a file or contain a secret.
 */
export const sealFiles = (plugin: SealPlugin): Entry[] => [
  folderEntry(plugins),
  fileEntry(`${plugins}/${plugin}`, assetText(plugin), 0o444),
];

/** The key is valid only for this verification. */
export const sealKey = (proof: string): Entry[] => [
  folderEntry(sealFolder, 0o777),
  fileEntry(`${sealFolder}/key`, proof, 0o444),
];

/**
 * A word that only this verification has, but that tested code may know: it does not give away the
 * proof.
 */
export const proofHash = (proof: string): string =>
  createHash('sha256').update(proof).digest('hex').slice(0, 32);

const maxReport = 64 * 2 ** 20;

/** The first report in the output with a valid seal. */
export function sealedReport({ output, files }: VerifierOutput): SealedReport | undefined {
  const proof = files.get(proofFile)?.toString() ?? '';
  for (const [, seal, text = ''] of output.matchAll(/^belay-seal ([0-9a-f]{64}) ([\w+/=]+)$/gm)) {
    if (proof === '' || createHmac('sha256', proof).update(text).digest('hex') !== seal) continue;
    const bytes = inflateSync(Buffer.from(text, 'base64'), { maxOutputLength: maxReport });
    return JSON.parse(bytes.toString()) as SealedReport;
  }
  return undefined;
}

export function sealedCounts(given: VerifierOutput): Counts | undefined {
  const report = sealedReport(given);
  if (!report) return undefined;
  const results = Object.values(report.tests);
  const bad = results.filter((result) => result === 'FAILED').length;
  return { tests: results.length, failed: bad + report.errors };
}

/** The engine's exit code for a process killed by a signal: the script did not finish. */
export const isKilled = ({ exitCode }: VerifierOutput): boolean => exitCode > 128;

/** The output without the lines that only the harness reads. */
export const withoutSeals = (output: string): string =>
  output.replace(/\n?^belay-seal [0-9a-f]{64} [\w+/=]+$\n?/gm, '');

/**
 * The runner's report must agree with its exit code: a program that ends the runner early with code
 * 0, or imitates the output of a passed run, has no sealed report.
 */
export function judgeSealed(given: VerifierOutput): Verdict {
  const { exitCode, output } = given;
  const report = sealedReport(given);
  const tests = report?.tests;
  if (exitCode !== 0) return fail(`The tests exited with code ${exitCode}.`, 'wrong', { tests });
  if (!report || !tests)
    return fail('The tests exited with code 0 but left no report.', 'no_result');
  const results = Object.values(tests);
  const bad = results.filter((result) => result === 'FAILED').length + report.errors;
  if (bad > 0) return fail(`${bad} of ${results.length} tests failed.`, 'wrong', { tests });
  if (!results.includes('PASSED'))
    return invalid('no_result', `No test ran. ${withoutSeals(output).slice(-200)}`);
  return pass(`${results.filter((result) => result === 'PASSED').length} tests passed.`, {
    tests,
  });
}

export const pythonPath = plugins;

/** For a script that starts pytest itself: adds the plugin to the settings of image and task. */
export const withPytestPlugin = (command: string[]): string[] => [
  'sh',
  '-c',
  `export PYTHONPATH=${plugins}\${PYTHONPATH:+:$PYTHONPATH} PYTEST_ADDOPTS="-p belay_seal $PYTEST_ADDOPTS"; exec "$@"`,
  'sealed',
  ...command,
];

const judgeTests = (what: string) => (given: VerifierOutput) =>
  fail(what, 'wrong', { tests: sealedReport(given)?.tests });

/** The further runs of a script that starts pytest. */
export const pytestChecks = (verifier: Verifier): Pick<Verifier, 'check' | 'withWrongTests'> => ({
  check: pytestCheck(verifier),
  withWrongTests: () => {
    const files = withWrongTests(verifier.files, (path) =>
      /^\/tests\/(.*\/)?(test_[^/]*|[^/]*_test)\.py$/.test(path),
    );
    return files && { ...verifier, files, judge: judgeTests('The run with wrong tests.') };
  },
});

/** The second run, with decoys in one of the test files that the script ran. */
const pytestCheck =
  (verifier: Verifier): Verifier['check'] =>
  (word, tests) => {
    const decoys = decoysOf('python');
    const changed = inAnotherOrder(verifier, word);
    const ran = new Set(tests.map((id) => posix.basename(id.split('::')[0] ?? '')));
    const hosts = changed.files.filter(({ path }) => /^\/tests\/.*\.py$/.test(path));
    const host = hosts.find(({ path }) => ran.has(posix.basename(path)));
    return {
      verifier: {
        ...changed,
        files: changed.files.map((entry) =>
          entry === host ? withDecoys(decoys, word, entry) : entry,
        ),
        judge: judgeTests('The second run.'),
      },
      decoys: host ? decoys.count : 0,
      honest: decoys.honest,
    };
  };

/** A number for seeds, derived from the word of a second run. */
export const seedOf = (word: string): number => Number.parseInt(word.slice(1, 8), 16);

/** For `pytest -p belay_order`, with `pythonPath`. */
export const orderPlugin = (word: string): Entry =>
  fileEntry(
    `${plugins}/belay_order.py`,
    assetText('belay_order.py')
      .replaceAll('{word}', word)
      .replace('{seed}', String(seedOf(word))),
    0o444,
  );

/**
 * Runs pytest with its tests in another order and with another hash seed. Tests with the word in
 * their names come last, after the tested code has run.
 */
export function inAnotherOrder(verifier: Verifier, word: string): Verifier {
  const named = (part: string) =>
    part.includes(asPlugin) ? part.replace(asPlugin, withOrder) : part;
  const { command } = verifier;
  const at = command.indexOf('belay_seal');
  return {
    ...verifier,
    files: [...verifier.files, orderPlugin(word)],
    env: { ...verifier.env, PYTHONHASHSEED: String(seedOf(word)) },
    command: at < 0 ? command.map(named) : command.toSpliced(at + 1, 0, '-p', 'belay_order'),
  };
}

const asPlugin = '-p belay_seal';
const withOrder = `${asPlugin} -p belay_order`;
