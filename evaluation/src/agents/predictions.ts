import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { noArtifacts, type Artifacts } from '../artifacts.js';
import { fileEntry, under } from '../entries.js';
import type { Step } from '../model.js';
import { isZipped, linesIn, partOf, unreadable } from '../lines.js';
import { faultSentence } from '../suites/readable-tasks.js';
import { workdirOf, type Agent } from './agent.js';
import { fixedArtifacts } from './baselines.js';

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
  /** The number of predictions for each task that has any. */
  counts: Map<string, number>;
}

/**
 * Answers in an uncompressed file of lines are read again when their trial begins, because the file
 * may be larger than memory.
 */
interface Answer {
  id: string;
  model: string | null;
  read(): Prediction;
}

/**
 * The predictions of another program: SWE-Bench predictions (`.jsonl`, or `.json` as a list or by
 * instance), or HumanEval and MBPP samples with `completion` or `solution`. The n-th answer to a
 * task is its n-th attempt. Throws `invalid_input` with the invalid line.
 */
export function predictionsFrom(path: string): Predictions {
  const hash = createHash('sha256');
  const answers = new Map<string, Answer[]>();
  let first: Answer | undefined;
  for (const { answer, bytes } of answersIn(path)) {
    hash.update(bytes).update('\n');
    first ??= answer;
    const known = answers.get(answer.id);
    if (known) known.push(answer);
    else answers.set(answer.id, [answer]);
  }
  if (!first) throw new AppError('invalid_input', `${path} has no predictions.`);
  return {
    counts: new Map([...answers].map(([id, found]) => [id, found.length])),
    agent: {
      name: `predictions:${hash.digest('hex').slice(0, 24)}`,
      model: first.model,
      setup: async (context) => {
        const { task, attempt } = context;
        const answer = answers.get(task.id)?.[attempt - 1];
        if (!answer)
          throw new AppError(
            'invalid_input',
            `The predictions have no answer for attempt ${attempt} at ${task.id}.`,
          );
        const { artifactsOf } = answer.read();
        return fixedArtifacts((step) => artifactsOf(step, workdirOf(context)));
      },
    },
  };
}

function* answersIn(path: string): Generator<{ answer: Answer; bytes: Buffer }> {
  if (path.endsWith('.json')) return yield* listedIn(path);
  const inPlace = !isZipped(path);
  for (const { number, bytes, offset } of linesIn(path)) {
    const where = `${path}, line ${number}`;
    const prediction = predictionOf(parsed(bytes, where), where);
    const { id, model } = prediction;
    const { length } = bytes;
    const read = inPlace
      ? () => predictionOf(parsed(partOf(path, { offset, length }), where), where)
      : () => prediction;
    yield { answer: { id, model, read }, bytes };
  }
}

function* listedIn(path: string): Generator<{ answer: Answer; bytes: Buffer }> {
  let text: Buffer;
  try {
    text = readFileSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  const found = parsed(text, path) as Record<string, object> | unknown[] | null;
  const lines = Array.isArray(found)
    ? found
    : Object.entries(found ?? {}).map(([id, line]) => ({ instance_id: id, ...line }));
  for (const [index, line] of lines.entries()) {
    const prediction = predictionOf(line, `${path}, entry ${index + 1}`);
    const { id, model } = prediction;
    const bytes = Buffer.from(JSON.stringify(line));
    yield { answer: { id, model, read: () => prediction }, bytes };
  }
}

function parsed(bytes: Buffer, where: string): unknown {
  try {
    return JSON.parse(bytes.toString().replace(/^\uFEFF/, '')) as unknown;
  } catch {
    throw new AppError('invalid_input', `${where}, is not JSON.`);
  }
}

interface Prediction {
  id: string;
  model: string | null;
  artifactsOf(step: Step, workdir: string): Artifacts;
}

function predictionOf(line: unknown, where: string): Prediction {
  const isPatch = typeof line === 'object' && line !== null && 'instance_id' in line;
  const prediction = patch.safeParse(line);
  if (prediction.success) {
    const { instance_id: id, model_name_or_path: model, model_patch: text } = prediction.data;
    const artifactsOf = (): Artifacts => ({ ...noArtifacts, patch: Buffer.from(text ?? '') });
    return { id, model, artifactsOf };
  }
  const answer = sample.safeParse(line);
  if (!answer.success)
    throw new AppError(
      'invalid_input',
      faultSentence(isPatch ? prediction.error : answer.error, where),
    );
  const { task_id: task, completion, solution } = answer.data;
  if (completion === undefined && solution === undefined)
    throw new AppError('invalid_input', `${where}, has neither completion nor solution.`);
  const id = typeof task === 'number' ? `MBPP/${task}` : task;
  const artifactsOf = (step: Step, workdir: string): Artifacts => {
    const prompt = step.files[0]?.bytes.toString() ?? '';
    const text = solution ?? prompt + (completion ?? '');
    return { ...noArtifacts, entries: under(workdir, [fileEntry('solution.py', text)]) };
  };
  return { id, model: null, artifactsOf };
}
