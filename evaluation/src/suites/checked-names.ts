import { AppError } from '@belay/protocol';
import type { Task } from '../model.js';
import { folderName } from '../folder-name.js';

/** Most file systems limit names to 255 bytes, and suites append to the name of a task. */
const mostLetters = 200;

/**
 * Checks the names of tasks, which become folders on this machine: none may lead out of a results
 * folder, and no two may share one. Throws `invalid_input` with the name.
 */
export function withCheckedNames(tasks: Task[]): Task[] {
  const folders = new Map<string, string>();
  for (const { id, steps } of tasks) {
    const wrong = faultOf(id, { folders: true }) ?? steps.flatMap(({ name }) => stepFault(name))[0];
    if (wrong) throw new AppError('invalid_input', `The task ${shown(id)} is not run: ${wrong}.`);
    const folder = folderName(id);
    const other = folders.get(folder);
    if (other !== undefined)
      throw new AppError(
        'invalid_input',
        `The tasks ${shown(other)} and ${shown(id)} would share the folder ${folder}. Rename one of them.`,
      );
    folders.set(folder, id);
  }
  return tasks;
}

function stepFault(name: string): string[] {
  const fault = faultOf(name, { folders: false });
  return fault === null ? [] : [`its step ${shown(name)} is not a name (${fault})`];
}

function faultOf(name: string, { folders }: { folders: boolean }): string | null {
  if (name.length > mostLetters) return `its name has more than ${mostLetters} characters`;
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(name))
    return 'its name has characters that file names cannot have';
  const parts = name.split('/');
  if (parts.some((part) => ['', '.', '..'].includes(part)))
    return 'its name is an absolute path or leads out of the folder';
  return folders || parts.length === 1 ? null : 'it has a slash';
}

const shown = (name: string) => JSON.stringify(name.slice(0, 80));
