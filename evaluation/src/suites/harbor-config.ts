import { z } from 'zod';

const seconds = z.number().optional();
const env = z.record(z.string(), z.string()).default({});
const networkMode = z.enum(['public', 'no-network', 'allowlist']).optional();
const user = z.union([z.string(), z.int()]).transform(String).optional();

const healthcheck = z
  .object({
    command: z.string(),
    interval_sec: z.number().default(5),
    timeout_sec: z.number().default(30),
    start_period_sec: z.number().default(0),
    start_interval_sec: z.number().default(5),
    retries: z.int().default(3),
  })
  .transform((given) => ({
    command: given.command,
    interval: given.interval_sec,
    timeout: given.timeout_sec,
    startPeriod: given.start_period_sec,
    startInterval: given.start_interval_sec,
    retries: given.retries,
  }));

const environment = z.object({
  build_timeout_sec: z.number().default(600),
  docker_image: z.string().optional(),
  os: z.string().default('linux'),
  cpus: z.number().positive().default(1),
  gpus: z.number().default(0),
  tpu: z.unknown().optional(),
  memory_mb: z.number().positive().optional(),
  memory: z.string().optional(),
  workdir: z.string().optional(),
  env,
  mcp_servers: z.array(z.unknown()).default([]),
  network_mode: networkMode,
  allow_internet: z.boolean().optional(),
  healthcheck: healthcheck.optional(),
});
export type HarborEnvironment = z.infer<typeof environment>;

const agent = z.object({ timeout_sec: seconds, user, network_mode: networkMode }).prefault({});
const verifier = z
  .object({
    timeout_sec: seconds,
    env,
    user,
    network_mode: networkMode,
    environment_mode: z.enum(['shared', 'separate']).optional(),
    environment: environment.optional(),
    collect: z.array(z.unknown()).default([]),
  })
  .refine((given) => given.environment_mode !== 'shared' || !given.environment, {
    message: 'environment_mode = "shared" and an environment of its own exclude each other',
  })
  .prefault({});
export type HarborVerifier = z.infer<typeof verifier>;

const artifact = z.union([
  z.string().transform((source) => ({ source, service: 'main' })),
  z.object({ source: z.string(), service: z.string().default('main') }),
]);

const step = z.object({
  name: z.string(),
  min_reward: z
    .union([z.number().transform((reward) => ({ reward })), z.record(z.string(), z.number())])
    .optional(),
  agent,
  verifier,
  healthcheck: healthcheck.optional(),
  artifacts: z.array(artifact).default([]),
});

/**
 * The parts of task.toml that affect a verdict. Older files use `memory = "2G"` and
 * `allow_internet`.
 */
export const harborConfig = z.object({
  /** Its name and version as a package. */
  task: z.object({ name: z.string(), version: z.string().optional() }).optional(),
  agent,
  verifier,
  environment: environment.prefault({}),
  solution: z.object({ env }).prefault({}),
  artifacts: z.array(artifact).default([]),
  /** Free-form; only the labels for reports are read. */
  metadata: z
    .object({
      category: z.string().optional().catch(undefined),
      difficulty: z.string().optional().catch(undefined),
    })
    .prefault({})
    .catch({}),
  multi_step_reward_strategy: z.enum(['mean', 'final']).default('mean'),
  steps: z.array(step).default([]),
});
export type HarborConfig = z.infer<typeof harborConfig>;

/** A step, with the task's settings as defaults. */
export interface HarborStep extends Partial<z.infer<typeof step>> {
  name: string;
  agent: z.infer<typeof agent>;
  verifier: HarborVerifier;
  /** The folders of its files: the task's folder, then the step's own. */
  folders: string[];
}

/** The steps of a task; a task without steps is a single step. */
export function stepsOf({ steps, agent: whole, verifier: shared }: HarborConfig): HarborStep[] {
  if (steps.length === 0) return [{ name: 'solve', agent: whole, verifier: shared, folders: [''] }];
  return steps.map((own) => ({
    ...own,
    agent: { ...whole, ...own.agent },
    verifier: { ...shared, ...own.verifier, env: { ...shared.env, ...own.verifier.env } },
    folders: ['', `steps/${own.name}/`],
  }));
}

/** Megabytes of `memory_mb`, or of an older `memory = "2G"`. */
export function memoryOf({ memory_mb: megabytes, memory }: HarborEnvironment): number {
  if (megabytes) return megabytes;
  const [, amount, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([GMK])/i.exec(memory ?? '') ?? [];
  if (!amount) return 2048;
  const factors: Record<string, number> = { G: 1024, M: 1, K: 1 / 1024 };
  return Math.floor(Number(amount) * (factors[unit.toUpperCase()] ?? 1));
}

/**
 * Whether the verifier runs in a separate container, which its own environment implies as well.
 * Undefined if it specifies neither.
 */
export const isSeparate = (given: HarborVerifier): boolean | undefined =>
  given.environment_mode ? given.environment_mode === 'separate' : given.environment && true;

/** Replaces `${VAR:-text}` with the text: variables of the host must not affect a task. */
export const withDefaults = (given: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, template.exec(value)?.[2] ?? value]),
  );

const template = /^\$\{([^}:]+)(?::-(.*))?\}$/s;

/** Why a task cannot be run as intended, in one sentence; null when it can. */
export function unsupportedOf(config: HarborConfig): string | null {
  const { environment: main, verifier: own, steps, artifacts } = config;
  const environments = [main, own.environment, ...steps.map(({ verifier: of }) => of.environment)];
  const each = (wrong: (given: HarborEnvironment) => boolean) =>
    environments.some((given) => given && wrong(given));
  if (each(({ os }) => os.toLowerCase() !== 'linux'))
    return 'It needs an operating system other than Linux.';
  if (each(({ gpus, tpu }) => gpus > 0 || Boolean(tpu))) return 'It needs a GPU or a TPU.';
  if (each(({ mcp_servers: servers }) => servers.length > 0))
    return 'It needs MCP servers, which are not started for tasks.';
  if ([own, ...steps.map(({ verifier: of }) => of)].some(({ collect }) => collect.length > 0))
    return 'It has [[verifier.collect]] commands, which are not run.';
  const all = [...artifacts, ...steps.flatMap((given) => given.artifacts)];
  if (all.some(({ service }) => service !== 'main'))
    return 'It collects artifacts from other services of a compose file.';
  const modes = steps.map(({ verifier: of }) => isSeparate(of) ?? isSeparate(own) ?? false);
  if (new Set(modes).size > 1)
    return 'Some of its steps are verified in a separate container and others are not.';
  const variables = [
    config.solution.env,
    own.env,
    ...steps.map(({ verifier: of }) => of.env),
    ...environments.map((given) => given?.env ?? {}),
  ].flatMap((given) => Object.values(given));
  const missing = variables
    .map((value) => template.exec(value))
    .find((found) => found && found[2] === undefined);
  if (missing) return `It needs ${missing[1]} from the host, which tasks do not get.`;
  return null;
}
