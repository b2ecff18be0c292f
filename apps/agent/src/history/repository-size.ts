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

/** Packs loose objects: what is new since the last time. Commits may be added meanwhile. */
export const packObjects = async (git: Git): Promise<void> => {
  await git.run(['repack', '-d', '-q']);
};

/**
 * Drops the older half of the steps, again until the history fits, and returns how many were dropped. The commits that
 * stay keep their ids: the cut is a shallow boundary, as of a shallow clone. The base stays too.
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
