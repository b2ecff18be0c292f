import {
  DockerClient,
  DockerHost,
  DockerTasks,
  labels,
  ServedHost,
  ServedTasks,
} from '@belay/containers';
import { runtimeFolder } from '@belay/host';
import { hostCalls, taskCalls } from '@belay/protocol';
import type { ContainerSettings } from './container-settings.js';
import { instanceOf, type Joined } from './joined.js';
import type { AgentNews, ServedAgents } from './served-agents.js';
import { rememberEngine } from './used-engines.js';

export interface ContainedAgentsOptions extends ContainerSettings, AgentNews {
  /** The folder for all data of this server on this machine. */
  folder: string;
  joined: Joined;
}

/** What a machine with containers serves. */
const machineContract = { ...hostCalls, ...taskCalls };

/** Serves containers of this machine’s engine to its server. Throws `unavailable` when the engine does not respond. */
export async function serveContainers(
  options: ContainedAgentsOptions,
): Promise<ServedAgents<typeof machineContract>> {
  const { folder, joined, dockerHost, image, allowedImages, runtime, limits } = options;
  const { url, credential } = joined;
  const instance = instanceOf(folder);
  const docker = new DockerClient({ instance, dockerHost, trusted: [image] });
  rememberEngine(folder, dockerHost);
  const rules = { prefix: `${instance}-belay-`, image, allowedImages, limits };
  const tasks = new ServedTasks({ ...rules, engine: new DockerTasks(dockerHost) });
  const host = await ServedHost.open({
    ...rules,
    host: new DockerHost(docker, {
      image,
      runtime,
      labels: { [labels.instance]: instance, [labels.data]: folder },
      sockets: { folder: runtimeFolder(process.env.XDG_RUNTIME_DIR), name: `joined-${instance}` },
      browser: { image, limits },
      memorySetting: '--memory of belay join',
    }),
    server: { url: new URL(url), token: credential },
    named: (label) => isSession(label) && options.started(label),
    ended: (label, why) => isSession(label) && options.ended(label, why),
  });
  return {
    contract: machineContract,
    get sandboxes() {
      return host.running;
    },
    get sessions() {
      return host.labels.filter(isSession);
    },
    serve: (connection) => {
      host.serve(connection);
      tasks.serve(connection);
    },
    stop: (sandbox) => host.remove(sandbox),
    close: async () => {
      await tasks.close();
      await host.end();
    },
  };
}

/** Others wait for a session. */
const isSession = (label: string): boolean => !label.startsWith('warm-');
