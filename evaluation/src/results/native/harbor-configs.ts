import { dirname } from 'node:path';
import type { RunFile } from '../run-file.js';
import {
  agentName,
  folderOf,
  liteLlmName,
  timeText,
  verifierMode,
  type HarborTrial,
} from './harbor-trial.js';
import { float } from './python-json.js';

/** Harbor's JobConfig, with all its fields in their order. */
export function jobConfig(run: RunFile, job: { name: string; folder: string }, isOneTask: boolean) {
  return {
    schema_version: 1,
    job_name: job.name,
    jobs_dir: dirname(job.folder),
    n_attempts: run.attempts,
    install_only: false,
    skip_credential_checks: false,
    ...multipliers(run.timeoutMultiplier),
    debug: false,
    n_concurrent_trials: run.concurrency,
    quiet: false,
    retry,
    override_error_policy: {},
    environment: environmentConfig,
    verifier: verifierConfig,
    metrics: [],
    agents: [agentConfig(run)],
    user_agent: null,
    datasets: isOneTask ? [] : [datasetConfig(run.data)],
    tasks: isOneTask ? [taskConfig(run.data, null)] : [],
    artifacts: [],
    extra_instruction_paths: [],
    extra_instructions: [],
    source_jobs: [],
  };
}

/** Harbor's TrialConfig, with all its fields in their order. */
export function trialConfig({ trial, name, source, path, job, multiplier }: HarborTrial) {
  return {
    schema_version: 1,
    task: taskConfig(path, source),
    trial_name: name,
    trials_dir: job.folder,
    install_only: false,
    ...multipliers(multiplier),
    agent: agentConfig(trial),
    user_agent: null,
    environment: environmentConfig,
    verifier: verifierConfig,
    override_error_policy: {},
    artifacts: [],
    extra_instruction_paths: [],
    extra_instructions: [],
    job_id: job.id,
    source_trial: null,
  };
}

/**
 * Harbor's TrialLock: the inputs of a trial by their content; null if its task is no longer in the
 * data.
 */
export function trialLock(each: HarborTrial): object | null {
  const { trial, task, source, path, multiplier } = each;
  if (!task?.package) return null;
  return withoutNulls({
    schema_version: 2,
    task: {
      name: folderOf(path),
      version: task.package.version,
      type: 'local',
      digest: task.package.digest,
      source,
      path,
    },
    install_only: false,
    ...multipliers(multiplier),
    agent: agentConfig(trial),
    bridge_inputs: {},
    skills: [],
    environment: environmentConfig,
    verifier: {
      ...verifierConfig,
      environment_mode: task.steps.length > 1 ? null : verifierMode(each),
    },
    artifacts: [],
    override_error_policy: {},
  });
}

/** Harbor's JobLock. Its `harbor` names no version, because Harbor did not run the job. */
export const jobLock = (run: RunFile, all: HarborTrial[]) => ({
  schema_version: 3,
  created_at: timeText(new Date(run.created)),
  harbor: {},
  n_concurrent_trials: run.concurrency,
  retry: withoutNulls(retry),
  trials: all.map(trialLock).filter(Boolean),
});

/** Locks leave out what is not set. */
const withoutNulls = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== null)
      .map(([key, value]: [string, unknown]) => [
        key,
        isPlain(value) ? withoutNulls(value) : value,
      ]),
  );

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && value.constructor === Object;

const multipliers = (times: number) => ({
  timeout_multiplier: float(times),
  agent_timeout_multiplier: null,
  verifier_timeout_multiplier: null,
  agent_setup_timeout_multiplier: null,
  environment_build_timeout_multiplier: null,
});

const taskConfig = (path: string, source: string | null) => ({
  path,
  git_url: null,
  git_commit_id: null,
  name: null,
  ref: null,
  overwrite: false,
  download_dir: null,
  source,
});

const datasetConfig = (path: string) => ({
  path,
  name: null,
  version: null,
  ref: null,
  registry_url: null,
  registry_path: null,
  repo: null,
  overwrite: false,
  download_dir: null,
  task_names: null,
  exclude_task_names: null,
  n_tasks: null,
});

const agentConfig = ({ agent, model }: { agent: string; model: string | null }) => ({
  name: agentName(agent),
  import_path: null,
  model_name: model === null ? null : liteLlmName(model),
  base_url: null,
  model_api_key_name: null,
  model_api_format: null,
  skip_model_parsing: false,
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
});

const environmentConfig = {
  type: 'docker',
  import_path: null,
  force_build: false,
  delete: true,
  stream: false,
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
};

const verifierConfig = { override_timeout_sec: null, max_timeout_sec: null, disable: false };

/** Harbor's defaults: no retries, and the exceptions that it would not retry. */
const retry = {
  max_retries: 0,
  include_exceptions: null,
  exclude_exceptions: [
    'APIResponseValidationError',
    'AgentAuthenticationError',
    'AgentSafetyRefusalError',
    'AgentTimeoutError',
    'ApiProviderResourceNotFoundError',
    'AuthenticationError',
    'BadRequestError',
    'BudgetExceededError',
    'CancelledError',
    'ContentPolicyViolationError',
    'ContextLengthExceededError',
    'ContextWindowExceededError',
    'DspyImportError',
    'MissingExtraError',
    'ModelNotFoundError',
    'NonZeroAgentExitCodeError',
    'NotFoundError',
    'OutputLengthExceededError',
    'OutputTokenExceededError',
    'PermissionDeniedError',
    'RegradeError',
    'RewardFileEmptyError',
    'RewardFileNotFoundError',
    'ServiceOperationsUnsupportedError',
    'UnprocessableEntityError',
    'UnsupportedModelParametersError',
    'UnsupportedParamsError',
    'VercelScopeError',
    'VerifierOutputParseError',
    'VerifierTimeoutError',
  ],
  wait_multiplier: float(1),
  min_wait_sec: float(1),
  max_wait_sec: float(60),
};
