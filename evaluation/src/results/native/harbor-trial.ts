import { belayVersion } from '@belay/protocol';
import type { Cause, Task, Trial, Verdict } from '../../model.js';
import { float } from './python-json.js';
import { timesOf, tokensOf, uuidOf } from './writer.js';

export interface HarborTrial {
  trial: Trial;
  task: Task | undefined;
  name: string;
  /** The name of the data, which in Harbor is the name of the folder of tasks. */
  source: string;
  /** The task's folder. */
  path: string;
  multiplier: number;
  job: { id: string; folder: string };
  out: string;
}

/** A time in UTC, as pydantic writes it. */
export const timeText = (time: Date): string => time.toISOString().replace(/(\.\d+)Z$/, '$1000Z');

/** Harbor has agents named `oracle` and `nop`; all others are Belay's. */
export const agentName = (agent: string): string => {
  const [kind = ''] = agent.split(':');
  return kind === 'oracle' || kind === 'nop' ? kind : 'belay';
};

/** The model's name in LiteLLM's form, which Harbor uses. */
export const liteLlmName = (model: string): string => model.replace(':', '/');

/** Harbor's TrialResult, with all its fields in their order. */
export function trialResult(each: HarborTrial, uri: string) {
  const { trial, task, name, source, path, out } = each;
  const times = timesOf(trial);
  const span = (from: Date, to: Date) => ({
    started_at: timeText(from),
    finished_at: timeText(to),
  });
  const steps = stepResults(each);
  const built = trial.verdict.cause !== 'build_failed';
  const separate = task?.artifacts.kind === 'paths' ? 'separate' : 'shared';
  return {
    id: uuidOf(trial.key),
    task_name: trial.task,
    trial_name: name,
    trial_uri: uri,
    task_id: { path },
    source,
    task_checksum: task?.checksum ?? task?.content ?? '',
    config: trialConfig(each),
    agent_info: agentInfo(trial),
    agent_result: steps || !built ? null : agentResult(trial, out),
    verifier_result: verifierResult(trial.verdict),
    verifier_environment_mode: steps ? null : separate,
    exception_info: exceptionOf(trial.verdict, times.ended),
    started_at: timeText(times.begun),
    finished_at: timeText(times.ended),
    environment_setup: span(times.begun, times.built),
    agent_setup: null,
    agent_execution: steps || !built ? null : span(times.built, times.worked),
    verifier: steps || !built ? null : span(times.worked, times.ended),
    step_results: steps,
  };
}

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

const exceptions: Partial<Record<Cause, string>> = {
  agent_timeout: 'AgentTimeoutError',
  verifier_timeout: 'VerifierTimeoutError',
  no_result: 'RewardFileNotFoundError',
  build_failed: 'SandboxBuildFailedError',
  agent_failed: 'RuntimeError',
  unsupported: 'RuntimeError',
  infrastructure: 'RuntimeError',
};

export function exceptionOf({ cause, detail }: Verdict, at: Date) {
  const type = cause && exceptions[cause];
  if (!type) return null;
  return {
    exception_type: type,
    exception_message: detail,
    exception_traceback: '',
    occurred_at: timeText(at),
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
    rollout_details: null,
    metadata: null,
  };
}

/** Harbor's TrialConfig with its defaults written out. */
function trialConfig({ trial, name, source, path, job, multiplier }: HarborTrial) {
  return {
    task: {
      path,
      git_url: null,
      git_commit_id: null,
      name: null,
      ref: null,
      overwrite: false,
      download_dir: null,
      source,
    },
    trial_name: name,
    trials_dir: job.folder,
    install_only: false,
    timeout_multiplier: float(multiplier),
    agent_timeout_multiplier: null,
    verifier_timeout_multiplier: null,
    agent_setup_timeout_multiplier: null,
    environment_build_timeout_multiplier: null,
    agent: {
      name: agentName(trial.agent),
      import_path: null,
      model_name: trial.model === null ? null : liteLlmName(trial.model),
      n_concurrent: null,
      concurrency_group: null,
      skills: [],
      override_timeout_sec: null,
      override_setup_timeout_sec: null,
      max_timeout_sec: null,
      resume_trajectory: false,
      load_trajectory: null,
      extra_allowed_hosts: [],
      kwargs: {},
      mcp_servers: [],
    },
    environment: {
      type: 'docker',
      import_path: null,
      force_build: false,
      delete: true,
      cpu_enforcement_policy: 'auto',
      memory_enforcement_policy: 'auto',
      override_cpus: null,
      override_memory_mb: null,
      override_storage_mb: null,
      override_gpus: null,
      override_tpu: null,
      mounts: null,
      extra_docker_compose: [],
      kwargs: {},
      extra_allowed_hosts: [],
    },
    verifier: { override_timeout_sec: null, max_timeout_sec: null, disable: false },
    artifacts: [],
    extra_instruction_paths: [],
    job_id: job.id,
    source_trial: null,
  };
}
