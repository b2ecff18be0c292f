import { labels } from '@belay/containers';
import type { Config } from './config.js';
import { serverId } from './server-id.js';

/** The labels of all containers, volumes and images of this server. */
export function ownerLabels(
  { instance, data }: Config,
  more: Record<string, string> = {},
): Record<string, string> {
  return { [labels.instance]: instance, [labels.data]: data, [labels.server]: serverId, ...more };
}
