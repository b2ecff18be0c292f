import { pluralText, type Reproduction, type RerunVerdict } from '@belay/protocol';
import { uncolored, testReport, type TestReport } from './test-report.js';

/** A verdict in a word and in a sentence. */
export interface Judgement {
  verdict: RerunVerdict;
  why: string;
}

/** How a run of a command ended. */
export interface RerunEnd {
  /** Null for a run that did not come to its end. */
  exitCode: number | null;
  /** Standard output and error. */
  output: string;
  /** Why it did not come to its end, as a clause: “it took longer than 600 s”. */
  problem: string | null;
}

/** The runs of a reproduction, by the files that they had. */
export interface ReproductionRuns {
  /** Before the change, with the test files of the change. */
  before: readonly RerunEnd[];
  /** With the change. */
  after: readonly RerunEnd[];
  /** With the change, but as before it where files decide how tests run; none if it changes no such files. */
  guarded: readonly RerunEnd[];
}

/** What a reproduction claims. */
export interface ReproductionClaim extends Pick<Reproduction, 'command' | 'files' | 'expects'> {
  /** Whether its command runs tests: see `isTestCommand`. */
  isTest: boolean;
}

type Outcome = 'passed' | 'failed' | 'not run';

/**
 * Whether a test fails before a change for the reason that is named, and passes with it. The agent that made the change
 * may have chosen everything: only files before the change and exit codes are not its own.
 */
export function reproductionVerdict(claim: ReproductionClaim, runs: ReproductionRuns): Judgement {
  return (
    againstChange(runs) ??
    notComparable(claim, runs) ??
    otherReason(claim, runs) ??
    onlyByConfiguration(runs.guarded) ?? {
      verdict: 'confirmed',
      why: `It fails without the change because of “${claim.expects}”, and passes with it.`,
    }
  );
}

/** Whether a check passes before a change and with it. */
export function checkVerdict({
  before,
  after,
  guarded,
}: {
  before: RerunEnd;
  after: RerunEnd;
  /** Also with the tests from before the change; null if it changes none and nothing that decides how they run. */
  guarded: RerunEnd | null;
}): Judgement {
  for (const [end, when] of [
    [before, 'before the change'],
    [after, 'with the change'],
  ] as const) {
    const why = notRun(end);
    if (why !== null) return inconclusive(`The check did not run ${when}: ${why}.`);
  }
  const passedBefore = outcomeOf(before) === 'passed';
  if (outcomeOf(after) === 'failed')
    return passedBefore
      ? { verdict: 'refuted', why: 'The check passes before the change and fails with it.' }
      : inconclusive(`The check fails before the change and with it${newFailures(before, after)}.`);
  if (guarded !== null && outcomeOf(guarded) !== 'passed')
    return inconclusive(
      'The check passes only with what the change does to existing tests or to how they run.',
    );
  return {
    verdict: 'confirmed',
    why: passedBefore
      ? 'The check passes before the change and with it.'
      : 'The check fails before the change and passes with it.',
  };
}

/** What speaks against the change, whatever command it is. */
function againstChange({ before, after }: ReproductionRuns): Judgement | undefined {
  if (before.length === 0 || after.length === 0) return inconclusive('It was not run.');
  const missing = [...before, ...after].map(notRun).find((why) => why !== null);
  if (missing !== undefined) return inconclusive(`It did not run: ${missing}.`);
  if (passesIn(after) === 0) {
    const sign = commonSign(after);
    return sign === undefined
      ? { verdict: 'refuted', why: 'It still fails with the change.' }
      : inconclusive(`With the change the test could not run: “${sign}”.`);
  }
  if (passesIn(before) === before.length && passesIn(after) === after.length)
    return { verdict: 'refuted', why: 'It passes without the change.' };
  return flaky(after, 'with') ?? flaky(before, 'without');
}

function flaky(ends: readonly RerunEnd[], how: 'with' | 'without'): Judgement | undefined {
  const passed = passesIn(ends);
  if (passed === 0 || passed === ends.length) return undefined;
  return inconclusive(
    `It is flaky: ${how} the change it passes in ${passed} of ${ends.length} runs.`,
  );
}

const passesIn = (ends: readonly RerunEnd[]): number =>
  ends.filter((end) => outcomeOf(end) === 'passed').length;

function notComparable(
  claim: ReproductionClaim,
  { before, after }: ReproductionRuns,
): Judgement | undefined {
  if (!claim.isTest)
    return inconclusive(
      'It is a command, not a test: name the session’s check or a test runner, with the test files.',
    );
  if (isGeneric(claim))
    return inconclusive(
      `“${claim.expects}” is printed by any failure: name what only this one prints.`,
    );
  const sign = before.flatMap(signsIn).find((one) => !after.some(({ output }) => one.test(output)));
  const found = sign && before.map(({ output }) => sign.exec(output)?.[0]).find(Boolean);
  return found === undefined
    ? undefined
    : inconclusive(`Without the change the test could not run: “${found}”.`);
}

function otherReason(
  { expects }: ReproductionClaim,
  { before, after }: ReproductionRuns,
): Judgement | undefined {
  if (!before.every(({ output }) => printsReason(output, expects)))
    return inconclusive(`Without the change it fails, but does not print “${expects}”.`);
  if (after.some(({ output }) => printsReason(output, expects)))
    return inconclusive(`It prints “${expects}” also where it passes.`);
  const failed = before.map(({ output }) => testReport(output).failed);
  const passed = after.map(({ output }) => testReport(output));
  return failed.every((names) => passed.every((report) => turnsGreen(names, report)))
    ? undefined
    : inconclusive('The test that fails without the change is not one that passes with it.');
}

/** True where the runner’s form is not known. */
const turnsGreen = (failed: ReadonlySet<string>, { passed, hasPasses }: TestReport): boolean =>
  failed.size === 0 || (passed.size === 0 ? hasPasses : [...failed].some((one) => passed.has(one)));

const onlyByConfiguration = (guarded: readonly RerunEnd[]): Judgement | undefined =>
  guarded.every((end) => outcomeOf(end) === 'passed')
    ? undefined
    : inconclusive('It passes only with what the change does to files that decide how tests run.');

/** Whether a reason is printed, however its lines are broken. */
export const printsReason = (output: string, expects: string): boolean =>
  words(uncolored(output)).includes(words(uncolored(expects)));

const words = (text: string): string => text.split(/\s+/).filter(Boolean).join(' ');

/** Whether other failures print it, too: general words, the command, or the name of a file. */
function isGeneric({ expects, command, files }: ReproductionClaim): boolean {
  const reason = words(expects).toLowerCase();
  if (reason.length < 8 || words(command).toLowerCase().includes(reason)) return true;
  if (files.some((file) => file.toLowerCase().includes(reason))) return true;
  const rest = reason.replaceAll(/\S*[/\\]\S*|\b[\w-]+\.[a-z]{1,4}\b(?::\d+)*/g, ' ');
  return rest.split(/[^\p{L}]+/u).every((word) => word.length < 3 || generic.test(word));
}

const generic =
  /^(?:assert(?:ion)?s?|assertionerror|at|but|calls?|cases?|code|command|errors?|exception|exit(?:ed)?|expect(?:ed)?|fail(?:ed|ing|s|ure|ures)?|file|got|last|line|most|not|of|passed|raised?|received|recent|run(?:ning)?|status|suites?|tests?|the|thrown?|to(?:be|equal)?|traceback|true|false|typeerror|valueerror|was|were|with)$/;

const outcomeOf = (end: RerunEnd): Outcome =>
  notRun(end) === null ? (end.exitCode === 0 ? 'passed' : 'failed') : 'not run';

/** Why a run says nothing of the code, as a clause. */
function notRun({ exitCode, output, problem }: RerunEnd): string | null {
  if (problem !== null || exitCode === null) return problem ?? 'it did not end';
  const meaning = exitCodes.get(exitCode);
  if (meaning !== undefined) return meaning;
  return testReport(output).ranNone ? 'it says that it ran no test' : null;
}

/** As shells and `timeout` set them. */
const exitCodes: ReadonlyMap<number, string> = new Map([
  [124, 'it ran out of time (exit code 124)'],
  [126, 'a program could not be started (exit code 126)'],
  [127, 'a program was not found (exit code 127)'],
  [130, 'it was interrupted (exit code 130)'],
  [137, 'it was killed (exit code 137)'],
  [143, 'it was ended (exit code 143)'],
]);

/** Failures to run a test, which say nothing of what it tests. */
const signs: readonly RegExp[] = [
  /\bcommand not found\b|: not found$/m,
  /\bCannot find (?:module|package)\b[^\n]*/,
  /\bERR_MODULE_NOT_FOUND\b/,
  /\b(?:ModuleNotFoundError|ImportError|SyntaxError|IndentationError)\b[^\n]*/,
  /\bno such file or directory\b/i,
  /\bcould not (?:resolve|compile)\b[^\n]*/i,
  /\bbuild failed\b/i,
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED)\b|Temporary failure in name resolution/,
];

const signsIn = ({ output }: RerunEnd): RegExp[] => signs.filter((sign) => sign.test(output));

function commonSign(ends: readonly RerunEnd[]): string | undefined {
  const common = signs.find((sign) => ends.every(({ output }) => sign.test(output)));
  return ends.map(({ output }) => common?.exec(output)?.[0]).find((one) => one !== undefined);
}

function newFailures(before: RerunEnd, after: RerunEnd): string {
  const known = testReport(before.output).failed;
  const added = [...testReport(after.output).failed].filter((name) => !known.has(name));
  if (added.length === 0) return '';
  return `, where ${pluralText(added.length, 'other test')} failed: ${added.slice(0, 3).join(', ')}`;
}

const inconclusive = (why: string): Judgement => ({ verdict: 'inconclusive', why });
