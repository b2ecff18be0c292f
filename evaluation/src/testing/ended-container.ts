import { DockerTasks, type TaskContainer } from '@belay/containers';
import { createTask } from '../engine/task-files.js';

export const engine = new DockerTasks();
const signal = AbortSignal.timeout(120_000);

/** What `use` returns of a container of this image in which a shell line has ended. */
export async function after<T>(
  image: string,
  line: string,
  use: (container: TaskContainer) => Promise<T>,
): Promise<T> {
  const container = await createTask(engine, {
    run: 'task-container-spec',
    image,
    command: ['sh', '-c', line],
    user: 'root',
    workdir: '/',
    env: {},
    files: [],
    cpus: 1,
    memoryMb: 128,
    network: 'none',
  });
  try {
    await container.run(100, signal);
    return await use(container);
  } finally {
    await container.remove();
  }
}

/** What a shell line prints. */
export const printed = (image: string, line: string) =>
  after(image, line, (container) => container.output());

/** A shell line that prints so many lines of 40 bytes. */
export const printLines = (count: number): string =>
  `yes 0123456789abcdef0123456789abcdef0123456 | head -n ${count}`;
