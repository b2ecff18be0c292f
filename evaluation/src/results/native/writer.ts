import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task, Trial } from '../../model.js';
import { trialFolder } from '../journal.js';
import type { RunFile } from '../run-file.js';

export interface NativeInput {
  run: RunFile;
  /** All tasks of the data, not only the chosen ones. */
  tasks: Task[];
  trials: Trial[];
}

/** Writes a suite's own result files below the folder. */
export type Writer = (out: string, input: NativeInput) => void;

/** A stored file, by its path in the trial's folder; undefined if it does not exist. */
export function kept(out: string, trial: Trial, ...path: string[]): Buffer | undefined {
  const file = join(trialFolder(out, trial), ...path);
  return existsSync(file) ? readFileSync(file) : undefined;
}

export interface TokenUse {
  prompt: number | null;
  cached: number | null;
  completion: number | null;
}

/** The tokens of a trial, from its trajectory; null without a model. */
export function tokensOf(out: string, trial: Trial): TokenUse {
  const found = kept(out, trial, 'trajectory.json');
  const { final_metrics: totals } = (found ? JSON.parse(found.toString()) : {}) as {
    final_metrics?: Record<string, number>;
  };
  return {
    prompt: totals?.total_prompt_tokens ?? null,
    cached: totals?.total_cached_tokens ?? null,
    completion: totals?.total_completion_tokens ?? null,
  };
}

/** Names of the files stored from a step's verifier. */
export function verifierFiles(out: string, trial: Trial, step: string): string[] {
  const folder = join(trialFolder(out, trial), step, 'verifier');
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** A UUID derived from the text, which stays the same whenever the files are written. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Seven letters derived from the text, in the alphabet of Harbor's trial names. */
export function suffixOf(text: string): string {
  const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  const bytes = createHash('sha256').update(text).digest().subarray(0, 7);
  return [...bytes].map((byte) => alphabet[byte % alphabet.length]).join('');
}

/** When the phases of a trial began and ended, computed from their durations. */
export function timesOf({ started, seconds }: Trial) {
  const begun = Date.parse(started);
  const at = (after: number) => new Date(begun + after * 1000);
  const agent = seconds.build + seconds.agent;
  return {
    begun: at(0),
    built: at(seconds.build),
    worked: at(agent),
    ended: at(agent + seconds.verify),
  };
}
