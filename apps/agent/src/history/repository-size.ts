import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './git.js';
import { branch } from './repository.js';

/** Bytes that the repository takes on disk. */
export async function repositoryBytes(git: Git): Promise<number> {
  const counts = await git.run(['count-objects', '-v']);
  const kilobytes = (key: string) =>
    Number(new RegExp(`^${key}: (\\d+)$`, 'm').exec(counts)?.[1] ?? 0);
  return (kilobytes('size') + kilobytes('size-pack')) * 1_000;
}

/** Packs the loose objects added since the last time. Commits may be added meanwhile. */
export const packObjects = async (git: Git): Promise<void> => {
  await git.run(['repack', '-d', '-q']);
};

/**
 * Drops the older half of the steps, repeatedly until the history is small enough, and returns how many were dropped.
 * Remaining commits keep their ids: the cut is a shallow boundary, as in a shallow clone. The base also stays.
 */
export async function dropOldSteps(git: Git, maxBytes: number): Promise<number> {
  let dropped = 0;
  for (;;) {
    const steps = (await git.run(['rev-list', branch])).trim().split('\n');
    if (steps.length < 3) return dropped;
    const keep = Math.ceil(steps.length / 2);
    writeFileSync(join(git.places.folder, 'shallow'), `${steps[keep - 1]}\n`);
    dropped += steps.length - keep;
    await git.run(['repack', '-a', '-d', '-q']);
    await git.run(['prune', '--expire=now']);
    if ((await repositoryBytes(git)) <= maxBytes) return dropped;
  }
}
