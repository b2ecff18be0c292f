import { z } from 'zod';
import { failed, invalid, passed, type Outcome, type Verdict } from '../model.js';
import { junitCounts } from './test-reports.js';

export const pytestReport = '/verify-{proof}/report.xml';

const rewardObject = z.record(z.string(), z.number());

/**
 * Harbor's verdict: reward.json, or one number in reward.txt. Where the test script runs pytest, a full reward
 * must agree with pytest's own report, since tested code runs in pytest's process.
 */
export function judgeReward(
  { files, output }: Outcome,
  { usesPytest }: { usesPytest: boolean },
): Verdict {
  const rewards = rewardsOf(files);
  if (!rewards) return invalid('no_result', `There is no reward. ${output.slice(-200).trim()}`);
  const reward = rewards.reward ?? Object.values(rewards)[0] ?? 0;
  const counts = junitCounts(files.get(pytestReport));
  if (reward > 0 && usesPytest && (!counts || counts.tests === 0))
    return failed('A reward was written, and pytest has no report.', 'no_result');
  if (reward >= 1 && counts && counts.failed > 0)
    return failed('A full reward was written, and pytest reports failures.', 'no_result');
  if (reward >= 1) return passed(`The reward is ${reward}.`, { reward, rewards });
  return { ...failed(`The reward is ${reward}.`), reward, rewards };
}

/** Undefined when there is none, it is empty or does not parse: an error of the trial, not a zero. */
function rewardsOf(files: Map<string, Buffer>): Record<string, number> | undefined {
  const object = files.get('/logs/verifier/reward.json')?.toString().trim();
  if (object !== undefined) return object ? rewardObject.parse(JSON.parse(object)) : undefined;
  const text = files.get('/logs/verifier/reward.txt')?.toString().trim();
  const reward = Number(text);
  return text && Number.isFinite(reward) ? { reward } : undefined;
}
