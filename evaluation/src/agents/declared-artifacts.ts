import type { TaskContainer } from '../engine/task-container.js';
import type { Entry } from '../entries.js';
import type { ArtifactPath } from '../model.js';
import { ReadBudget } from '../read-budget.js';
import { isInArtifact } from '../suites/artifact-paths.js';

/** The artifacts that a task declares, from an ended container; missing ones are left out. */
export async function declaredArtifacts(
  container: TaskContainer,
  paths: ArtifactPath[],
): Promise<Entry[]> {
  const budget = new ReadBudget();
  const entries: Entry[] = [];
  for (const each of paths) {
    const found = await container.read(each.path, budget);
    entries.push(...found.filter(({ path }) => isInArtifact(each, path)));
  }
  return entries;
}
