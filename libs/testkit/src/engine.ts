import Docker from 'dockerode';

export const docker = new Docker();

/** Removes every container and volume that the server of a data folder has made. */
export async function removeSandboxes(data: string): Promise<void> {
  const filters = { label: [`belay.data=${data}`] };
  for (const { Id } of await docker.listContainers({ all: true, filters }))
    await docker.getContainer(Id).remove({ force: true, v: true }).catch(gone);
  const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(filters) as never });
  for (const { Name } of Volumes ?? [])
    await docker.getVolume(Name).remove({ force: true }).catch(gone);
}

/** Somebody else was faster: what should be gone is gone. */
function gone(error: { statusCode?: number }): void {
  if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
}

/** The container of a session. */
export async function containerOf(session: string): Promise<Docker.Container> {
  const filters = { label: [`belay.session=${session}`] };
  const found = await docker.listContainers({ all: true, filters });
  const first = found[0];
  if (!first) throw new Error(`Session ${session} has no container.`);
  return docker.getContainer(first.Id);
}
