import type { ContainerInspectInfo } from 'dockerode';
import { labels } from './container-spec.js';

/** The container of an agent, for what runs beside it. */
export interface EngineAgent {
  /** The container’s name. */
  name: string;
  /** The user that its programs run as. */
  user: string;
  /** The volume with its workspace. */
  workspace: string;
}

export function engineAgent({ Config, Mounts, Name }: ContainerInspectInfo): EngineAgent {
  const workspace = Mounts.find(({ Destination }) => Destination === '/workspace')?.Name ?? '';
  return { name: Name.slice(1), user: Config.Labels[labels.user] ?? '1000:1000', workspace };
}
