import { DockerClient, DockerHost, DockerTasks, labels } from '@belay/containers';
import { runtimeFolder } from '@belay/host';
import type { ContainerSettings } from './container-settings.js';
import { instanceOf } from './joined.js';
import { serveHost, type containerCalls, type ServeHostOptions } from './serve-host.js';
import type { ServedAgents } from './served-agents.js';
import { rememberEngine } from './used-engines.js';

/** Serves containers of this machine’s engine to its server. Throws `unavailable` when the engine does not respond. */
export async function serveContainers(
  options: ContainerSettings & ServeHostOptions,
): Promise<ServedAgents<typeof containerCalls>> {
  const { folder, dockerHost, image, runtime, limits } = options;
  const instance = instanceOf(folder);
  const docker = new DockerClient({ instance, dockerHost, trusted: [image] });
  rememberEngine(folder, dockerHost);
  const host = new DockerHost(docker, {
    image,
    runtime,
    labels: { [labels.instance]: instance, [labels.data]: folder },
    sockets: { folder: runtimeFolder(process.env.XDG_RUNTIME_DIR), name: `joined-${instance}` },
    browser: { image, limits },
    memorySetting: '--memory of belay join',
  });
  return serveHost(host, options, new DockerTasks(dockerHost));
}
