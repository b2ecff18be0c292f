import { DockerTasks, type TaskContainer } from '@belay/containers';
import { createTask } from './task-files.js';

const engine = new DockerTasks();
const signal = AbortSignal.timeout(120_000);

/** What `use` returns of a container in which a shell line has ended. */
async function after<T>(
  line: string,
  use: (container: TaskContainer) => Promise<T>,
  image = process.env.BELAY_TEST_BUSYBOX ?? '',
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

const printed = (line: string) => after(line, (container) => container.output());

it('keeps the beginning of a log of many megabytes, and the end of any', async () => {
  const lines = (count: number) => `yes 0123456789abcdef0123456789abcdef0123456 | head -n ${count}`;
  const output = await printed(`echo begin; ${lines(300_000)}; echo end`);
  expect(output.length).toBeGreaterThan(12_000_000);
  expect(output.startsWith('begin\n')).toBe(true);
  expect(output.endsWith('\nend\n')).toBe(true);

  const long = await printed(`echo begin; ${lines(1_500_000)}; echo end`);
  expect(long.endsWith('\nend\n')).toBe(true);
  expect(long.length).toBeGreaterThan(16_000_000);
});

it('lists the changes since its image, of which there may be none', async () => {
  const image = await after('true', (container) => engine.snapshot(container));
  const changedBy = (line: string) => after(line, (container) => container.changes(), image);
  try {
    expect(await changedBy('true')).toEqual([]);
    expect(await changedBy('touch /new')).toEqual([{ path: '/new', kind: 'added' }]);
  } finally {
    await engine.forget(image);
  }
});
