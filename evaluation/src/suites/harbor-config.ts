import { posix } from 'node:path';
import { z } from 'zod';
import { isExcludePattern } from './artifact-paths.js';
import { networkFields, noStrayHosts } from './harbor-network.js';

const seconds = z.number().optional();
const env = z.record(z.string(), z.string()).default({});
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

const environment = z
  .object({
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
    mcp_servers: z.array(z.object({ name: z.string() })).default([]),
    ...networkFields,
    allow_internet: z.boolean().optional(),
    healthcheck: healthcheck.optional(),
  })
  .superRefine(noStrayHosts);
export type HarborEnvironment = z.infer<typeof environment>;

const agent = z
  .object({ timeout_sec: seconds, user, ...networkFields })
  .superRefine(noStrayHosts)
  .prefault({});

const collect = z
  .object({
    command: z.string(),
    service: z.string().default('main'),
    timeout_sec: z.number().positive().default(60),
    user,
  })
  .transform(({ timeout_sec: limit, user: name = null, ...given }) => ({
    ...given,
    seconds: limit,
    user: name,
  }));
export type HarborCollect = z.infer<typeof collect>;

const verifier = z
  .object({
    timeout_sec: seconds,
    env,
    user,
    ...networkFields,
    environment_mode: z.enum(['shared', 'separate']).optional(),
    environment: environment.optional(),
    collect: z.array(collect).default([]),
  })
  .superRefine(noStrayHosts)
  .refine((given) => given.environment_mode !== 'shared' || !given.environment, {
    message: 'environment_mode = "shared" and an environment of its own exclude each other',
  })
  .prefault({});
export type HarborVerifier = z.infer<typeof verifier>;

const containerPath = z
  .string()
  .refine((path) => !path.split('/').includes('..'), { error: 'must not contain ..' })
  .transform((path) => posix.resolve('/', path));

const artifact = z.preprocess(
  (given) => (typeof given === 'string' ? { source: given } : given),
  z
    .object({
      source: containerPath,
      exclude: z
        .array(z.string().refine(isExcludePattern, { error: 'is not a pattern' }))
        .default([]),
      service: z.string().default('main'),
    })
    .transform(({ source: path, ...more }) => ({ path, ...more })),
);

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
    verifier: {
      ...shared,
      ...own.verifier,
      env: { ...shared.env, ...own.verifier.env },
      collect: [...shared.collect, ...own.verifier.collect],
    },
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

/** A variable of the host, with a default or without. */
export const template = /^\$\{([^}:]+)(?::-(.*))?\}$/s;
