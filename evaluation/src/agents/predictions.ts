import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { readFileSync } from 'node:fs';
import { nothing, type Submission } from '../carry.js';
import { file, hashOf, under } from '../entries.js';
import type { Step, Task } from '../model.js';
import { readLines } from '../suites/reading.js';
import { workdirOf, type Agent } from './agent.js';
import { handsIn } from './baselines.js';

const patch = z.object({
  instance_id: z.string(),
  model_name_or_path: z.string(),
  model_patch: z.string().nullable(),
});

const sample = z.object({
  task_id: z.union([z.string(), z.number()]),
  completion: z.string().optional(),
  solution: z.string().optional(),
});

export interface Predictions {
  agent: Agent;
  /** The tasks that there are predictions for, with how many. */
  counts: Map<string, number>;
}

/**
 * Answers made elsewhere: SWE-bench predictions (`.jsonl`, or `.json` as a list or by instance), or samples of
 * HumanEval and MBPP with `completion` or `solution`. The n-th answer to a task is its n-th attempt.
 */
export function predictionsFrom(path: string): Predictions {
  const lines = readAll(path);
  const answers = new Map<string, (typeof lines)[number][]>();
  for (const line of lines) answers.set(line.id, [...(answers.get(line.id) ?? []), line]);
  const [first] = lines;
  if (!first) throw new AppError('invalid_input', `${path} has no prediction.`);
  return {
    counts: new Map([...answers].map(([id, found]) => [id, found.length])),
    agent: {
      name: `predictions:${hashOf(linesOf(path))}`,
      model: first.model,
      begin: async (assignment) => {
        const { task, attempt } = assignment;
        const answer = answers.get(task.id)?.[attempt - 1];
        if (!answer)
          throw new AppError('invalid_input', `There is no answer ${attempt} to ${task.id}.`);
        return handsIn((step) => answer.submit(step, task, workdirOf(assignment)));
      },
    },
  };
}

function readAll(path: string) {
  return linesOf(path).map((line) => {
    const prediction = patch.safeParse(line);
    if (prediction.success) {
      const { instance_id: id, model_name_or_path: model, model_patch: text } = prediction.data;
      const submission: Submission = { ...nothing, patch: Buffer.from(text ?? '') };
      return { id, model, submit: () => submission };
    }
    const { task_id: task, completion, solution } = sample.parse(line);
    const id = typeof task === 'number' ? `MBPP/${task}` : task;
    const submit = (step: Step, _task: Task, workdir: string): Submission => {
      const prompt = step.files[0]?.bytes.toString() ?? '';
      const text = solution ?? prompt + (completion ?? '');
      return { ...nothing, entries: under(workdir, [file('solution.py', text)]) };
    };
    return { id, model: null, submit };
  });
}

function linesOf(path: string): unknown[] {
  if (!path.endsWith('.json')) return readLines(path);
  const found = JSON.parse(readFileSync(path, 'utf8')) as Record<string, object> | unknown[];
  if (Array.isArray(found)) return found;
  return Object.entries(found).map(([id, line]) => ({ instance_id: id, ...line }));
}
