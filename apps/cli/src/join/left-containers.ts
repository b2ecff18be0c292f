import { DockerClient } from '@belay/docker';

/** Removes all containers and volumes that agents of one server have on this machine; returns how many. */
export async function removeLeftContainers(options: {
  instance: string;
  dockerHost: string | undefined;
}): Promise<{ containers: number; volumes: number }> {
  const docker = new DockerClient(options);
  const containers = await docker.list(docker.ownLabel);
  for (const { id } of containers) await docker.remove(id);
  const volumes = await docker.volumes(docker.ownLabel);
  for (const name of volumes) await docker.removeVolume(name);
  return { containers: containers.length, volumes: volumes.length };
}
