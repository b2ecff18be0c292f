import { AppError } from '@belay/protocol';
import type { Images } from './engine/images.js';
import type { Task } from './model.js';

/**
 * Reports the tasks that cannot be run here before a run begins, grouped by reason; they count as
 * 0. Throws `invalid_input` when none can be run.
 */
export async function tellRefused(
  tasks: Task[],
  images: Pick<Images, 'refusal'>,
  { signal, onNotice }: { signal: AbortSignal; onNotice?(sentence: string): void },
): Promise<void> {
  const names = new Map<string, string[]>();
  for (const task of tasks) {
    if (task.broken) continue;
    const why = task.unsupported ?? (await images.refusal(task.environment.image, signal));
    if (why) names.set(why, [...(names.get(why) ?? []), task.id]);
  }
  const sentences = [...names].map(([why, ids]) => `${listed(ids)} cannot be run here: ${why}`);
  const refused = [...names.values()].reduce((total, ids) => total + ids.length, 0);
  if (refused > 0 && refused === tasks.length)
    throw new AppError('invalid_input', sentences.slice(0, 3).join(' '));
  for (const [why, ids] of names) onNotice?.(refusal(ids, why));
}

/** Reports the tasks of trials that no place can run, grouped by reason. */
export function tellRefusals(
  trials: readonly { task: Task }[],
  onNotice: (sentence: string) => void,
): void {
  const ids = new Map<string, Set<string>>();
  for (const { task } of trials) {
    const why = task.unsupported ?? '';
    ids.set(why, (ids.get(why) ?? new Set()).add(task.id));
  }
  for (const [why, of] of ids) onNotice(refusal([...of], why));
}

const refusal = (ids: string[], why: string): string =>
  `${listed(ids)} cannot be run here: ${why} This counts as 0.`;

const shown = 20;

function listed(ids: string[]): string {
  const more = ids.length > shown ? ` and ${ids.length - shown} more` : '';
  return `${ids.slice(0, shown).join(', ')}${more}`;
}
