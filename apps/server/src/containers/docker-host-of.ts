import { DockerHost, type DockerClient, type OthersAlive } from '@belay/containers';
import type { Config } from '../config.js';
import { ownerLabels } from '../owner-labels.js';

/** The server’s own Docker Engine as the host of its containers. */
export function dockerHostOf(
  config: Config,
  docker: DockerClient,
  others?: OthersAlive,
): DockerHost {
  const { image, runtimeVolume, runtimeFolder, instance, sidecarImage, memoryMb, cpus } = config;
  return new DockerHost(docker, {
    image,
    runtime: runtimeVolume,
    labels: ownerLabels(config),
    sockets: { folder: runtimeFolder, name: instance },
    browser: { image: sidecarImage, limits: { memoryMb: Math.max(1024, memoryMb), cpus } },
    memorySetting: 'BELAY_MEMORY_MB',
    others,
  });
}
