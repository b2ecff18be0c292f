import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, placeLabels } from '@belay/protocol';
import { z } from 'zod';
import { writeFileAtomically } from './journal.js';
import { thisMachine } from '../trial-places.js';
import { provenance } from './provenance.js';

/** The settings of a run, sufficient to resume it. Contains no API keys. */
export const runFile = z.object({
  version: z.literal(1),
  suite: z.string(),
  data: z.string(),
  agent: z.string(),
  model: z.string().nullable(),
  tasks: z.array(z.string()),
  /** Chosen tasks without a prediction, which are not attempted and count as 0. */
  unattempted: z.array(z.string()).default([]),
  attempts: z.int().positive(),
  concurrency: z.int().positive(),
  network: z.enum(['none', 'declared']),
  buildNetwork: z.enum(['default', 'none']).default('default'),
  fromMap: z.array(z.tuple([z.string(), z.string()])),
  sandbox: z.string().nullable(),
  repos: z.string().nullable().default(null),
  timeoutMultiplier: z.number().positive().default(1),
  /** Whether tasks without a preflight result are checked before the trials. */
  preflight: z.boolean().default(false),
  /** A hash over the content of the tasks; null in runs of older versions. */
  content: z.string().nullable().default(null),
  /** By task, labels to group results by, such as its language. */
  labels: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  /** Null in runs of older versions. */
  provenance: provenance.nullable().default(null),
  created: z.string(),
  /** The run's id on the board, if the program that started it chose one. */
  boardId: z.string().optional(),
  /** The places of its trials: names of machines, `this-machine` or `all`. */
  places: z.array(z.string()).default([thisMachine]),
  /** Of the places of its sessions. */
  sessionLabels: placeLabels.default({}),
  /** No more trials are started once they have cost this much. */
  maxDollars: z.number().positive().optional(),
});
export type RunFile = z.infer<typeof runFile>;

export function saveRun(out: string, run: RunFile): void {
  writeFileAtomically(join(out, 'run.json'), `${JSON.stringify(run, undefined, 2)}\n`);
}

export function loadRun(out: string): RunFile {
  const path = join(out, 'run.json');
  if (!existsSync(path))
    throw new AppError('not_found', `${out} contains no run: run.json is missing.`);
  return runFile.parse(JSON.parse(readFileSync(path, 'utf8')));
}
