import { z } from 'zod';
import type { TaskNetwork } from '../model.js';

/** The network settings of an environment or a phase. */
export const networkFields = {
  network_mode: z.enum(['public', 'no-network', 'allowlist']).optional(),
  allowed_hosts: z
    .array(
      z
        .string()
        .trim()
        .regex(/^[\w.:*/-]+$/, 'must be a host, an address or a network'),
    )
    .transform((hosts) => hosts.map((host) => host.toLowerCase().replace(/\.$/, '')))
    .optional(),
};

interface NetworkSettings {
  network_mode?: 'public' | 'no-network' | 'allowlist' | undefined;
  allowed_hosts?: string[] | undefined;
  /** The older form of `network_mode`. */
  allow_internet?: boolean | undefined;
}

/** The network by the first of the settings that have one; public if none has. */
export function networkOf(...settings: NetworkSettings[]): TaskNetwork {
  const given = settings.find(
    ({ network_mode: mode, allow_internet: old }) => mode !== undefined || old !== undefined,
  );
  const mode = given?.network_mode ?? (given?.allow_internet === false ? 'no-network' : 'public');
  if (mode === 'public') return 'bridge';
  const hosts = given?.allowed_hosts ?? [];
  return mode === 'allowlist' && hosts.length > 0 ? { hosts } : 'none';
}

/** A check of settings whose `allowed_hosts` contradict the others. */
export function noStrayHosts(
  { network_mode: mode, allowed_hosts: hosts }: NetworkSettings,
  ctx: z.RefinementCtx,
): void {
  if (hosts?.length && mode !== 'allowlist')
    ctx.addIssue({
      code: 'custom',
      message: 'allowed_hosts belong to network_mode = "allowlist"',
    });
}
