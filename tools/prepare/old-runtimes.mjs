/** Identifies the owner of a runtime: the folder of the installation that created it. */
export const installationLabel = 'belay.installation';

/**
 * Kept in addition to the current one: a runtime that was just prepared may have no container yet.
 */
const mostKept = 2;
const oldAfterSeconds = 7 * 24 * 3600;

export const isOld = (created) => created < Date.now() / 1000 - oldAfterSeconds;
export const filter = (filters) => `filters=${encodeURIComponent(JSON.stringify(filters))}`;

/**
 * Removes the runtimes of earlier builds of this installation except the latest two, and those
 * without an installation label, from older versions, after a week. Runtimes in use and those of
 * other installations are kept.
 */
export async function removeOldRuntimes(docker, { current, installation }) {
  const filters = filter({ label: ['belay.runtime'], status: ['created'] });
  const found = await docker.get(`/containers/json?all=1&${filters}`);
  const others = found
    .map(({ Id, Names, Created, Labels }) => ({
      id: Id,
      volume: Names[0].slice(1),
      created: Created,
      of: Labels[installationLabel],
    }))
    .filter(({ volume }) => volume !== current);
  const own = others.filter(({ of }) => of === installation);
  const latestFirst = own.toSorted((a, b) => b.created - a.created);
  const unnamed = others.filter(({ of, created }) => of === undefined && isOld(created));
  for (const one of [...latestFirst.slice(mostKept), ...unnamed]) {
    if (await isUsed(docker, one)) continue;
    await docker.remove(`/containers/${one.id}`);
    await docker.remove(`/volumes/${one.volume}`);
  }
}

/** Whether a container other than the one that filled it uses the volume. */
async function isUsed(docker, { id, volume }) {
  const users = await docker.get(`/containers/json?all=1&${filter({ volume: [volume] })}`);
  return users.some(({ Id }) => Id !== id);
}
