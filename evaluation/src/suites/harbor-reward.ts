import { z } from 'zod';
import type { Entry } from '../entries.js';
import { fail, invalid, pass, type VerifierOutput, type Verdict } from '../model.js';
import { isKilled, sealedCounts, sealedReport } from './seal.js';
import type { Counts } from './test-reports.js';

const rewardObject = z.record(z.string(), z.number());

/** The rewards that a task's own tests can write, as far as their text shows. */
export interface WritableRewards {
  /** Whether any of them mentions reward.json. */
  json: boolean;
  /** The numbers for reward.txt; null if they are unknown, for example computed. */
  numbers: Set<number> | null;
}

/**
 * Tested code can write the same files as the tests, but most scripts show which rewards are
 * possible: `echo 1 > /logs/verifier/reward.txt` and `echo 0 > …`.
 */
export function writableRewards(tests: Entry[]): WritableRewards {
  const texts = tests.map(({ bytes }) => bytes.toString());
  const lines = texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.includes('reward.txt') && !line.trim().startsWith('#'))
    .map((line) => line.replace(/>\s*\S+/g, '').replaceAll('$?', ''));
  const numbers = lines.map((line) =>
    Array.from(line.matchAll(/\b(?:echo|printf)\s+["']?(-?[\d.]+)\b/g), ([, text]) => Number(text)),
  );
  const isPlain = (line: string, at: number) => !/[$`(]/.test(line) && numbers[at]?.length !== 0;
  return {
    json: texts.some((text) => text.includes('reward.json')),
    numbers: lines.length > 0 && lines.every(isPlain) ? new Set(numbers.flat()) : null,
  };
}

/**
 * Harbor's verdict: reward.json, or one number in reward.txt. Where the test script runs pytest, a
 * full reward must agree with pytest's own report, since tested code runs in pytest's process.
 */
export function judgeReward(
  given: VerifierOutput,
  { usesPytest, writable }: { usesPytest: boolean; writable: WritableRewards },
): Verdict {
  const { files, output } = given;
  if (isKilled(given)) return fail('The test script was killed.', 'no_result');
  const rewards = rewardsOf(files, writable);
  if (!rewards) return invalid('no_result', `No reward was written. ${output.slice(-200).trim()}`);
  const reward = rewards.reward ?? Object.values(rewards)[0] ?? 0;
  if (writable.numbers && !writable.json && !writable.numbers.has(reward))
    return fail(`The reward is ${reward}, which the task’s tests never write.`, 'no_result');
  const contradiction = contradictionOf(reward, sealedCounts(given), usesPytest);
  if (contradiction) return fail(contradiction, 'no_result');
  const tests = usesPytest ? sealedReport(given)?.tests : undefined;
  // A task never counts for more than 1; `rewards` has the written values.
  const more = { reward: Math.min(Math.max(reward, 0), 1), rewards, ...(tests && { tests }) };
  const detail = `The reward is ${reward}.`;
  return reward >= 1 ? pass(detail, more) : fail(detail, 'wrong', more);
}

/** How pytest's own report contradicts a reward, in one sentence; null if it does not. */
function contradictionOf(
  reward: number,
  counts: Counts | undefined,
  usesPytest: boolean,
): string | null {
  if (reward > 0 && usesPytest && !counts?.tests)
    return 'A reward was written, but pytest left no report.';
  if (reward >= 1 && counts && counts.failed > 0)
    return 'A full reward was written, but pytest reports failures.';
  return null;
}

/**
 * Undefined if there is no reward, which is an error of the trial, not a reward of 0. Throws if
 * reward.json is invalid.
 */
function rewardsOf(
  files: Map<string, Buffer>,
  { json, numbers }: WritableRewards,
): Record<string, number> | undefined {
  const isForeign = numbers !== null && !json;
  const object = isForeign ? undefined : files.get('/logs/verifier/reward.json')?.toString().trim();
  if (object !== undefined) return object ? rewardObject.parse(JSON.parse(object)) : undefined;
  const text = files.get('/logs/verifier/reward.txt')?.toString().trim();
  const reward = Number(text);
  return text && Number.isFinite(reward) ? { reward } : undefined;
}
