import type { TaskContainer } from '@belay/containers';
import { readFiles } from '../engine/task-files.js';
import type { Entry } from '../entries.js';
import type { ArtifactPath } from '../model.js';
import { ReadBudget } from '../read-budget.js';
import { isInArtifact } from '../suites/artifact-paths.js';
import type { TrialContext } from './agent.js';

/**
 * The artifacts that a task declares, from an ended container and from the running services; missing ones are left out.
 */
export async function declaredArtifacts(
  { services }: Pick<TrialContext, 'services'>,
  container: TaskContainer,
  paths: ArtifactPath[],
): Promise<Entry[]> {
  const budget = new ReadBudget();
  const entries: Entry[] = [];
  for (const each of paths) {
    const owner = each.service === undefined ? container : services?.container(each.service);
    const found = owner ? await readFiles(owner, each.path, budget) : [];
    entries.push(...found.filter(({ path }) => isInArtifact(each, path)));
  }
  return entries;
}
