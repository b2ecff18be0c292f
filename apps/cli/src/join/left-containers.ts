import { DockerClient, labels } from '@belay/containers';

/**
 * Removes all containers and volumes that agents of one server have in these engines; returns how many. Throws
 * `unavailable` for an engine that does not respond.
 */
export async function removeLeftContainers(
  instance: string,
  engines: readonly string[],
): Promise<{ containers: number; volumes: number }> {
  const removed = { containers: 0, volumes: 0 };
  for (const dockerHost of engines) {
    const docker = new DockerClient({ instance, dockerHost });
    const containers = await docker.list(docker.ownLabel);
    for (const { id } of containers) await docker.remove(id);
    const owners = [labels.instance, labels.agent, labels.login];
    const found = await Promise.all(owners.map((label) => docker.volumes(`${label}=${instance}`)));
    const volumes = [...new Set(found.flat())];
    for (const name of volumes) await docker.removeVolume(name);
    removed.containers += containers.length;
    removed.volumes += volumes.length;
  }
  return removed;
}
