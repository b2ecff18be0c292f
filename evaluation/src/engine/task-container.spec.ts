import { Engine } from './engine.js';

const engine = new Engine();
const signal = AbortSignal.timeout(120_000);

/** The output of a shell line in a container. */
async function printed(line: string): Promise<string> {
  const container = await engine.create({
    run: 'task-container-spec',
    image: process.env.BELAY_TEST_BUSYBOX ?? '',
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
    return await container.output();
  } finally {
    await container.remove();
  }
}

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
