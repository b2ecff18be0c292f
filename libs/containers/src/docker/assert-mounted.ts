import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isWithin } from '@belay/host';
import { AppError } from '@belay/protocol';
import type { SharedFolder } from '../container-host.js';
import type { DockerClient } from './docker.client.js';

/**
 * Asserts that a started container got exactly the folders that were checked. Throws `forbidden` when one was exchanged
 * meanwhile; the container has run only its first program by then, which has no task yet.
 */
export async function assertMounted(
  docker: DockerClient,
  container: string,
  folders: readonly SharedFolder[],
): Promise<void> {
  if (folders.length === 0) return;
  const pid = await docker.pidOf(container);
  for (const folder of folders) {
    const seen = pid === undefined ? undefined : await identity(`/proc/${pid}/root${folder.path}`);
    if (seen) assertSame(folder, seen);
    // Only root can see into a container. Otherwise the mount is known only if nobody else can exchange the folder.
    else await assertOwnAlone(folder, await docker.writableFolders(container));
  }
}

async function assertOwnAlone(folder: SharedFolder, others: readonly string[]): Promise<void> {
  const seen = await identity(folder.folder);
  if (seen) assertSame(folder, seen);
  const within = others.find((one) => one !== folder.folder && isWithin(folder.folder, one));
  if (within !== undefined) throw exchanged(folder, `another session may change ${within}`);
  const own = process.getuid?.();
  for (let above = dirname(folder.folder); ; above = dirname(above)) {
    const { uid, mode } = await stat(above);
    const isSticky = (mode & 0o1000) !== 0;
    if ((uid !== 0 && uid !== own) || ((mode & 0o022) !== 0 && !isSticky))
      throw exchanged(folder, `other users may change ${above}`);
    if (above === '/') return;
  }
}

async function identity(path: string): Promise<{ dev: bigint; ino: bigint } | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}

function assertSame(folder: SharedFolder, { dev, ino }: { dev: bigint; ino: bigint }): void {
  if (dev !== folder.device || ino !== folder.inode)
    throw exchanged(folder, 'another one was mounted in its place');
}

const exchanged = ({ folder }: SharedFolder, why: string): AppError =>
  new AppError('forbidden', `The folder ${folder} cannot be shared, for ${why}.`);
