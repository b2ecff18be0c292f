import type { Trial } from '../model.js';
import type { RunFile } from './run-file.js';

/** The tasks of a run that share a label, such as a language or a category. */
export interface Group {
  label: string;
  name: string;
  tasks: number;
  passed: number;
  /** The mean reward over all trials of all of its tasks; missing trials count as 0. */
  score: number;
}

/**
 * Groups sorted by label and name. A label with the same value for all tasks is left out, because
 * its score would be the run's score.
 */
export function groupsOf(run: RunFile, trials: Trial[]): Group[] {
  const members = new Map<string, { label: string; name: string; tasks: string[] }>();
  for (const task of [...run.tasks, ...run.unattempted])
    for (const [label, name] of Object.entries(run.labels[task] ?? {})) {
      const key = JSON.stringify([label, name]);
      const known = members.get(key) ?? { label, name, tasks: [] };
      known.tasks.push(task);
      members.set(key, known);
    }
  const all = [...members.values()];
  return all
    .filter(({ label }) => all.filter((group) => group.label === label).length > 1)
    .map(({ label, name, tasks }) => {
      const wanted = new Set(tasks);
      const own = trials.filter(({ task }) => wanted.has(task));
      const reward = own.reduce((sum, { verdict }) => sum + verdict.reward, 0);
      return {
        label,
        name,
        tasks: tasks.length,
        passed: own.filter(({ verdict }) => verdict.outcome === 'pass').length,
        score: reward / (tasks.length * run.attempts),
      };
    })
    .toSorted((a, b) => order(a.label, b.label) || order(a.name, b.name));
}

const order = (a: string, b: string) => (a < b ? -1 : Number(a > b));
