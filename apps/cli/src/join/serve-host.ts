import { ServedHost, type ContainerHost, type Limits } from '@belay/containers';
import { hostCalls } from '@belay/protocol';
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

/** Serves a host of containers to a server. Throws `unavailable` when the host does not respond. */
export async function serveHost(
  host: ContainerHost,
  { folder, joined, image, allowedImages, limits, ...news }: ServeHostOptions,
): Promise<ServedAgents<typeof hostCalls>> {
  const { url, credential } = joined;
  const served = await ServedHost.open({
    host,
    prefix: `${instanceOf(folder)}-belay-`,
    image,
    allowedImages,
    limits,
    server: { url: new URL(url), token: credential },
    named: (label) => isSession(label) && news.started(label),
    ended: (label, why) => isSession(label) && news.ended(label, why),
  });
  return {
    contract: hostCalls,
    get sandboxes() {
      return served.running;
    },
    get sessions() {
      return served.labels.filter(isSession);
    },
    serve: (connection) => served.serve(connection),
    stop: (sandbox) => served.remove(sandbox),
    close: () => served.end(),
  };
}

/** Others wait for a session. */
const isSession = (label: string): boolean => !label.startsWith('warm-');
