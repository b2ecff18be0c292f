import type { DialIn, ProgramSpec } from '../container-host.js';
import { ProgramTasks, type ProgramTasksOptions } from '../program-tasks.js';

export interface TaskPods extends Pick<ProgramTasksOptions, 'capacity' | 'images'> {
  name: string;
  /** The pod of a host’s own. */
  start(spec: ProgramSpec, take: (dial: DialIn) => void): Promise<void>;
  look: ProgramTasksOptions['host']['look'];
  remove(id: string): Promise<void>;
}

/** Tasks of benchmarks in pods that the owner of their host does not know. */
export function podTasks(pods: TaskPods): ProgramTasks {
  const takes = new Map<string, (dial: DialIn) => void>();
  const startProgram = (spec: ProgramSpec): Promise<void> =>
    pods.start(spec, (dial) => takes.get(spec.id)?.(dial));
  return new ProgramTasks({
    host: { ...pods, startProgram },
    dials: {
      admit: (id, take) => void takes.set(id, take),
      remove: (id) => void takes.delete(id),
    },
    images: pods.images,
    capacity: pods.capacity,
  });
}
