import { posix } from 'node:path';
import type { Task, Trial } from '../../model.js';

export interface HarborTrial {
  trial: Trial;
  task: Task | undefined;
  name: string;
  /** The name of the folder of tasks; null if the data is the folder of one task. */
  source: string | null;
  /** The task's folder. */
  path: string;
  multiplier: number;
  job: { id: string; folder: string };
  out: string;
}

/** A time in UTC, as pydantic writes it: with microseconds, unless they are 0. */
export const timeText = (time: Date): string =>
  time
    .toISOString()
    .replace('.000Z', 'Z')
    .replace(/(\.\d+)Z$/, '$1000Z');

/** Harbor has agents named `oracle` and `nop`; all others are Belay's. */
export const agentName = (agent: string): string => {
  const [kind = ''] = agent.split(':');
  return kind === 'oracle' || kind === 'nop' ? kind : 'belay';
};

/** The model's name in LiteLLM's form, which Harbor uses. */
export const liteLlmName = (model: string): string => model.replace(':', '/');

/** Where the tests of a task ran. */
export const verifierMode = ({ task }: HarborTrial): 'separate' | 'shared' =>
  task?.artifacts.kind === 'paths' ? 'separate' : 'shared';

/** The name of a task's folder, by which Harbor names local tasks. */
export const folderOf = (path: string): string => posix.basename(path) || 'task';
