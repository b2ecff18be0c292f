import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { readLimits } from './read-limits.js';

describe('the limits of a control group', () => {
  let group: string;
  beforeEach(async () => (group = await mkdtemp(join(tmpdir(), 'group-'))));
  afterEach(() => rm(group, { recursive: true }));
  const write = async (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(group, name)), { recursive: true });
      await writeFile(join(group, name), text);
    }
  };

  it('are read in version 2', async () => {
    await write({
      'cpu.max': '50000 100000\n',
      'memory.max': '67108864\n',
      'memory.current': '1048576\n',
    });
    expect(await readLimits(group)).toEqual({
      cpus: 0.5,
      memoryBytes: 67_108_864,
      memoryUsedBytes: 1_048_576,
    });
  });

  it('are read in version 1', async () => {
    await write({
      'cpu/cpu.cfs_quota_us': '75000\n',
      'cpu/cpu.cfs_period_us': '100000\n',
      'memory/memory.limit_in_bytes': '67108864\n',
    });
    expect(await readLimits(group)).toMatchObject({ cpus: 0.75, memoryBytes: 67_108_864 });
  });

  it.each([
    ['no files', {}],
    ['no limits', { 'cpu.max': 'max 100000\n', 'memory.max': 'max\n' }],
    [
      'the unlimited of version 1',
      {
        'cpu/cpu.cfs_quota_us': '-1\n',
        'cpu/cpu.cfs_period_us': '100000\n',
        'memory/memory.limit_in_bytes': '9223372036854771712\n',
      },
    ],
    ['nonsense', { 'cpu.max': 'a lot\n', 'memory.max': '' }],
  ])('are the machine’s where there are %s', async (_, files) => {
    await write(files);
    expect(await readLimits(group)).toMatchObject({
      cpus: availableParallelism(),
      memoryBytes: totalmem(),
    });
  });
});
