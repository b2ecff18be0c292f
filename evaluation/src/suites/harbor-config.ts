import { z } from 'zod';

const seconds = z.number().optional();
const env = z.record(z.string(), z.string()).default({});
const network = z.enum(['public', 'no-network', 'allowlist']).optional();

const environment = z
  .object({
    build_timeout_sec: z.number().default(600),
    docker_image: z.string().optional(),
    cpus: z.number().default(1),
    memory_mb: z.number().optional(),
    memory: z.string().optional(),
    workdir: z.string().optional(),
    env,
    network_mode: network,
    allow_internet: z.boolean().optional(),
    healthcheck: z.unknown().optional(),
  })
  .prefault({});
export type HarborEnvironment = z.infer<typeof environment>;

const agent = z.object({ timeout_sec: seconds, user: z.string().optional() }).prefault({});
const verifier = z
  .object({
    timeout_sec: seconds,
    env,
    user: z.string().optional(),
    environment_mode: z.enum(['shared', 'separate']).default('shared'),
    environment: environment.optional(),
  })
  .prefault({});

/** task.toml, as far as it decides a verdict. Older files say `memory = "2G"` and `allow_internet`. */
export const harborConfig = z.object({
  agent,
  verifier,
  environment,
  solution: z.object({ env }).prefault({}),
  artifacts: z
    .array(z.union([z.string(), z.object({ source: z.string() }).transform((at) => at.source)]))
    .default([]),
  multi_step_reward_strategy: z.enum(['mean', 'final']).default('mean'),
  steps: z
    .array(
      z.object({
        name: z.string(),
        min_reward: z.union([z.number(), z.record(z.string(), z.number())]).optional(),
        agent,
        verifier,
      }),
    )
    .default([]),
});
export type HarborConfig = z.infer<typeof harborConfig>;

/** Megabytes of `memory_mb`, or of an older `memory = "2G"`. */
export function memoryOf({ memory_mb: megabytes, memory }: HarborEnvironment): number {
  if (megabytes) return megabytes;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([GM])/i.exec(memory ?? '') ?? [];
  if (!amount) return 2048;
  return Math.round(Number(amount) * (unit?.toUpperCase() === 'G' ? 1024 : 1));
}
