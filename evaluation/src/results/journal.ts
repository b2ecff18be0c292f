import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Trial } from '../model.js';

/**
 * Trials that count, one JSON line each, appended and synced before they are said to be done. A line that a
 * crash cut short is dropped when the journal is opened again.
 */
export class Journal {
  readonly trials = new Map<string, Trial>();
  readonly #file: number;

  constructor(readonly path: string) {
    mkdirSync(dirname(path), { recursive: true });
    const known = readTrials(path);
    for (const trial of known.trials) this.trials.set(trial.key, trial);
    this.#file = openSync(path, 'a');
    ftruncateSync(this.#file, known.bytes);
  }

  append(trial: Trial): void {
    if (this.trials.has(trial.key)) return;
    writeSync(this.#file, `${JSON.stringify(trial)}\n`);
    fsyncSync(this.#file);
    this.trials.set(trial.key, trial);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The whole lines of a journal, and how many bytes they are. */
export function readTrials(path: string): { trials: Trial[]; bytes: number } {
  if (!existsSync(path)) return { trials: [], bytes: 0 };
  const content = readFileSync(path);
  const bytes = content.lastIndexOf(0x0a) + 1;
  const lines = content.subarray(0, bytes).toString().split('\n').filter(Boolean);
  return { trials: lines.map((line) => JSON.parse(line) as Trial), bytes };
}

/** Writes a file so that a reader finds the old one or the whole new one. */
export function writeWhole(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

/** A folder name for a task's id. */
export const folderName = (id: string): string => id.replace(/[^\w.@+-]+/g, '__').slice(0, 120);

export const trialFolder = (out: string, { task, attempt }: Pick<Trial, 'task' | 'attempt'>) =>
  join(out, 'trials', `${folderName(task)}.${attempt}`);
