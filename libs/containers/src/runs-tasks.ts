import type { ContainerHost, Limits } from './container-host.js';
import type { ProgramTasks } from './program-tasks.js';

/** A host on which tasks of benchmarks run, too; those of an engine are run by its `TaskEngine`. */
export interface TaskRunner {
  /** Together, the tasks may use this much. */
  tasks(capacity: Limits): ProgramTasks;
}

export const runsTasks = (host: ContainerHost): host is ContainerHost & TaskRunner =>
  'tasks' in host;
