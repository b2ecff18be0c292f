import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unwritableMounts } from './unwritable-mounts.js';

it('names the folders that the sandbox’s user may not change', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belay-mount-'));
  const told = (readOnly: boolean) => unwritableMounts([{ folder, readOnly }]);
  try {
    await chmod(folder, 0o555);
    expect(await told(false)).toEqual([expect.stringContaining(`${folder} cannot be changed`)]);
    expect(await told(true)).toEqual([]);
    await chmod(folder, 0o777);
    expect(await told(false)).toEqual([]);
    expect(await unwritableMounts([{ folder: join(folder, 'none'), readOnly: false }])).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
