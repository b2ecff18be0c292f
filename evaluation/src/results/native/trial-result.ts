import { belayVersion } from '@belay/protocol';
import type { Cause, Trial, Verdict } from '../../model.js';
import { trialConfig } from './harbor-configs.js';
import { agentName, folderOf, timeText, verifierMode, type HarborTrial } from './harbor-trial.js';
import { float } from './python-json.js';
import { timesOf, tokensOf, uuidOf } from './writer.js';

/** Harbor's TrialResult, with all its fields in their order. */
export function trialResult(each: HarborTrial, uri: string) {
  const { trial, name, source, path, out } = each;
  const times = timesOf(trial);
  const span = (from: Date, to: Date) => ({
    started_at: timeText(from),
    finished_at: timeText(to),
  });
  const steps = stepResults(each);
  const built = trial.verdict.cause !== 'build_failed';
  const verified = verifierResult(trial.verdict);
  return {
    schema_version: 1,
    id: uuidOf(trial.key),
    task_name: taskName(each),
    trial_name: name,
    trial_uri: uri,
    task_id: { path },
    source,
    task_checksum: taskChecksum(each),
    config: trialConfig(each),
    agent_info: agentInfo(trial),
    agent_result: steps || !built ? null : agentResult(trial, out),
    verifier_result: verified,
    verifier_environment_mode: steps ? null : verifierMode(each),
    exception_info: exceptionOf(trial.verdict, times.ended),
    started_at: timeText(times.begun),
    finished_at: timeText(times.ended),
    environment_setup: span(times.begun, times.built),
    agent_setup: null,
    agent_execution: steps || !built ? null : span(times.built, times.worked),
    verifier: steps || !built ? null : span(times.worked, times.ended),
    step_results: steps,
    reward_valid: isRewardValid(trial.verdict),
  };
}

const taskName = ({ task, path }: HarborTrial) => task?.package?.name ?? folderOf(path);

const taskChecksum = ({ task }: HarborTrial) => task?.package?.checksum ?? task?.content ?? '';

/** Null for a task with one step. */
export function stepResults({ trial, task }: HarborTrial) {
  if (!trial.steps || !task || task.steps.length < 2) return null;
  const { ended } = timesOf(trial);
  return trial.steps.map(({ name, verdict }) => ({
    step_name: name,
    agent_result: null,
    verifier_result: verifierResult(verdict),
    exception_info: exceptionOf(verdict, ended),
    agent_execution: null,
    verifier: null,
  }));
}

/**
 * Rewards are floats, whichever file they came from. Null, an error of the trial, if there are
 * none.
 */
export function verifierResult({ rewards, outcome, cause }: Verdict) {
  if (rewards)
    return {
      rewards: Object.fromEntries(
        Object.entries(rewards).map(([key, value]) => [key, float(value)]),
      ),
    };
  // A wrong answer without a reward from the verifier counts as a reward of 0.
  return outcome === 'fail' && cause === 'wrong' ? { rewards: { reward: float(0) } } : null;
}

/** Whether Harbor counts the rewards of a trial: there are some, and no error makes them invalid. */
export const isRewardValid = (verdict: Verdict): boolean =>
  verifierResult(verdict) !== null && (exceptionKindOf(verdict)?.policy.has_valid_reward ?? true);

/** What Harbor does after an exception of this type. */
const policy = (should_retry: boolean, should_grade: boolean, has_valid_reward: boolean) => ({
  should_retry,
  should_grade,
  has_valid_reward,
});

const runtimeError = { type: 'RuntimeError', policy: policy(true, true, true) };
const exceptions: Partial<Record<Cause, typeof runtimeError>> = {
  agent_timeout: { type: 'AgentTimeoutError', policy: policy(false, true, true) },
  verifier_timeout: { type: 'VerifierTimeoutError', policy: policy(false, true, false) },
  no_result: { type: 'RewardFileNotFoundError', policy: policy(false, true, false) },
  build_failed: { type: 'SandboxBuildFailedError', policy: policy(true, false, false) },
  agent_failed: runtimeError,
  unsupported: runtimeError,
  infrastructure: runtimeError,
};

const exceptionKindOf = ({ cause }: Verdict) => (cause ? exceptions[cause] : undefined);

export function exceptionOf(verdict: Verdict, at: Date) {
  const kind = exceptionKindOf(verdict);
  if (!kind) return null;
  return {
    exception_type: kind.type,
    exception_message: verdict.detail,
    exception_traceback: '',
    occurred_at: timeText(at),
    policy: kind.policy,
  };
}

function agentInfo({ agent, model }: Trial) {
  const [provider, name] = model?.includes(':')
    ? [model.slice(0, model.indexOf(':')), model.slice(model.indexOf(':') + 1)]
    : [null, model];
  return {
    name: agentName(agent),
    version: belayVersion,
    model_info: name === null ? null : { name, provider },
  };
}

function agentResult(trial: Trial, out: string) {
  const tokens = tokensOf(out, trial);
  return {
    n_input_tokens: tokens.prompt,
    n_cache_tokens: tokens.cached,
    n_output_tokens: tokens.completion,
    cost_usd: tokens.prompt === null ? null : float(trial.dollars),
    model_usage: null,
    rollout_details: null,
    metadata: null,
  };
}
