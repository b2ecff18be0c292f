import { z } from 'zod';
import type { Contract } from './agent-connection.js';
import { engineId } from './machines.js';

const container = z.object({ id: engineId });
const run = z.object({ run: z.string().regex(/^[0-9a-z]{1,64}$/) });
const nothing = z.object({});
const exit = { exitCode: z.int(), timedOut: z.boolean() };
/** In seconds; the longest is a week. */
const seconds = z
  .number()
  .positive()
  .max(7 * 24 * 3_600);
const words = z.array(z.string()).max(10_000);
const user = z.string().max(200).nullable();

/**
 * Calls of an evaluation to a joined machine that runs its tasks, by way of the server: those of `TaskHost` and its
 * containers. Times are in seconds.
 */
export const taskCalls = {
  'task.capacity': {
    input: nothing,
    output: z.object({
      cpus: z.number().positive(),
      memoryMb: z.number().positive(),
      /** What none of its tasks gets. */
      lacks: z.array(z.enum(['network', 'services'])),
    }),
  },
  /** Lasts until it is cancelled; then all of the run’s containers end. The others need it. */
  'task.guard': { input: run, output: nothing },
  /** A machine that takes no images has those that its registries know by this name, or says why not. */
  'task.hasImage': {
    input: z.object({ image: engineId, name: z.string().max(500) }),
    output: z.object({ has: z.boolean() }),
  },
  'task.create': {
    input: run.extend({
      /** One that `task.hasImage` knows, or that was loaded or made by `task.snapshot`. */
      image: engineId,
      command: words.nullable(),
      entrypoint: words.nullable().optional(),
      user,
      workdir: z.string().max(4_000).nullable(),
      env: z.record(z.string().max(1_000), z.string()),
      cpus: z.number().positive(),
      memoryMb: z.number().positive(),
      /** That of another container, by its id, or none. */
      network: z.union([
        z.literal(['none', 'bridge']),
        z.templateLiteral(['container:', engineId]),
      ]),
      hosts: z.array(z.string().max(300)).max(1_000).optional(),
      healthcheck: z
        .object({
          test: words,
          interval: z.number(),
          timeout: z.number(),
          startPeriod: z.number(),
          retries: z.number(),
        })
        .nullish(),
      /** A tar that is unpacked over the image. */
      archive: z.instanceof(Uint8Array),
    }),
    output: container,
  },
  'task.run': { input: container.extend({ seconds }), output: z.object(exit) },
  'task.start': { input: container, output: nothing },
  'task.state': {
    input: container,
    output: z.object({
      running: z.boolean(),
      exitCode: z.int(),
      health: z.enum(['starting', 'healthy', 'unhealthy']).nullable(),
    }),
  },
  'task.tail': {
    input: container.extend({ lines: z.int().positive().max(10_000) }),
    output: z.object({ text: z.string() }),
  },
  'task.exec': {
    input: container.extend({ command: words, user, seconds }),
    output: z.object({ ...exit, output: z.string() }),
  },
  'task.output': { input: container, output: z.object({ text: z.instanceof(Uint8Array) }) },
  'task.changes': {
    input: container,
    output: z.object({
      changes: z.array(
        z.object({ path: z.string(), kind: z.enum(['modified', 'added', 'removed']) }),
      ),
    }),
  },
  'task.remove': { input: container, output: nothing },
  'task.snapshot': { input: container, output: z.object({ image: engineId }) },
  'task.forget': { input: z.object({ image: engineId }), output: nothing },
} satisfies Contract;
