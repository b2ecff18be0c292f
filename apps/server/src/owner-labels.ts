import { labels } from '@belay/docker';
import type { Config } from './config.js';

/** The labels of everything that this server makes. */
export function ownerLabels(
  { instance, data }: Config,
  more: Record<string, string> = {},
): Record<string, string> {
  return { [labels.instance]: instance, [labels.data]: data, ...more };
}
