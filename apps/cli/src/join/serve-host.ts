import {
  ServedHost,
  ServedTasks,
  type ContainerHost,
  type Limits,
  type ServedTasksOptions,
} from '@belay/containers';
import { hostCalls, taskCalls } from '@belay/protocol';
import { instanceOf, type Joined } from './joined.js';
import type { AgentNews, ServedAgents } from './served-agents.js';

export interface ServeHostOptions extends AgentNews {
  /** The folder for all data of this server on this machine. */
  folder: string;
  joined: Joined;
  /** The image for sessions that name none. */
  image: string;
  /** Others that the server may use, with `*` for any characters. */
  allowedImages: readonly string[];
  limits: Limits;
}

/** What a machine with containers serves. */
export const containerCalls = { ...hostCalls, ...taskCalls };

/** Serves a host of containers to a server, and where tasks of evaluations run. Throws `unavailable` when the host does not respond. */
export async function serveHost(
  host: ContainerHost,
  { folder, joined, image, allowedImages, limits, ...news }: ServeHostOptions,
  tasksHost: ServedTasksOptions['host'],
): Promise<ServedAgents<typeof containerCalls>> {
  const { url, credential } = joined;
  const rules = { prefix: `${instanceOf(folder)}-belay-`, image, allowedImages, limits };
  const tasks = new ServedTasks({ ...rules, host: tasksHost });
  const served = await ServedHost.open({
    ...rules,
    host,
    server: { url: new URL(url), token: credential },
    named: (label) => isSession(label) && news.started(label),
    ended: (label, why) => isSession(label) && news.ended(label, why),
  });
  return {
    contract: containerCalls,
    get sandboxes() {
      return served.running;
    },
    get sessions() {
      return served.labels.filter(isSession);
    },
    serve: (connection) => {
      served.serve(connection);
      tasks.serve(connection);
    },
    stop: (sandbox) => served.remove(sandbox),
    close: async () => {
      await tasks.close();
      await served.end();
    },
  };
}

/** Others wait for a session. */
const isSession = (label: string): boolean => !label.startsWith('warm-');
