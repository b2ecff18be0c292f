import { mkdir, mkdtemp, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SharedFolder } from '../container-host.js';
import { assertMounted } from './assert-mounted.js';
import type { DockerClient } from './docker.client.js';

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'belay-mounted-')));
});
afterAll(() => rm(root, { recursive: true }));

/** A folder as it was when it was checked; the container has it at `path`. */
async function checked(name: string, path = `/mnt/${name}`): Promise<SharedFolder> {
  const folder = join(root, name);
  await mkdir(folder);
  const { dev: device, ino: inode } = await stat(folder, { bigint: true });
  return { folder, path, readOnly: false, device, inode };
}
/** What the engine says: the pid where this process sees into the container, and what others can change. */
const engine = (pid: number | undefined, writable: string[] = []) =>
  ({
    pidOf: () => Promise.resolve(pid),
    writableFolders: () => Promise.resolve(writable),
  }) as unknown as DockerClient;
const exchange = async ({ folder }: SharedFolder, target: string) => {
  await rename(folder, `${folder}-before`);
  await symlink(target, folder);
};

describe('a folder that is exchanged between check and mount', () => {
  it('is seen in the container, whatever its path leads to', async () => {
    // The container sees what is at a path of its own: here that of this process.
    const late = await checked('late', join(root, 'late'));
    await assertMounted(engine(process.pid), 'container', [late]);
    await exchange(late, '/etc');
    await expect(assertMounted(engine(process.pid), 'container', [late])).rejects.toThrow(
      'another one was mounted in its place',
    );
  });

  it('is seen at its path, or could be so by others, where nobody sees into a container', async () => {
    const app = await checked('app');
    await assertMounted(engine(undefined), 'container', [app]);
    await assertMounted(engine(undefined, [app.folder]), 'container', [app]);
    await expect(assertMounted(engine(undefined, [root]), 'container', [app])).rejects.toThrow(
      'another session',
    );
    await exchange(app, '/etc');
    await expect(assertMounted(engine(undefined), 'container', [app])).rejects.toThrow(
      'another one was mounted',
    );
  });
});
