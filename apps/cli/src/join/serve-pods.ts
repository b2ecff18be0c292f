import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentPortOf, openKubernetes, type CertifiedKey } from '@belay/containers';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { readSaved } from '../saved-file.js';
import { instanceOf } from './joined.js';
import type { PodSettings } from './pod-settings.js';
import { serveHost, type containerCalls, type ServeHostOptions } from './serve-host.js';
import type { ServedAgents } from './served-agents.js';
import { rememberCluster } from './used-clusters.js';

/**
 * Serves pods of a cluster to a server. Throws `unavailable` when the cluster does not respond or does not confine its
 * pods.
 */
export async function servePods(
  options: PodSettings & ServeHostOptions & { warn(sentence: string): void },
): Promise<ServedAgents<typeof containerCalls>> {
  const { folder, kubeconfig, namespace, agentUrl, image, limits } = options;
  rememberCluster(folder, { kubeconfig, namespace });
  const host = await openKubernetes({
    kubeconfig,
    namespace,
    agentSandbox: false,
    instance: instanceOf(folder),
    labels: {},
    image,
    runtimeImage: options.runtimeImage,
    listen: { host: '0.0.0.0', port: agentPortOf(agentUrl) },
    address: agentUrl,
    authority: (make) => keptAuthority(folder, make),
    browser: { image, limits },
    filesMb,
    storageClass: options.storageClass,
    // Actions are installed on the server’s own host.
    imageFiles: null,
    scheduling: options.scheduling,
    podFiles: { isOn: options.podFiles, setting: '--pod-files' },
    unconfined: { isAllowed: options.allowUnconfined, setting: '--allow-unconfined' },
    closedPort: undefined,
    memorySetting: '--memory of belay join',
  });
  const [network] = await host.confinement();
  if (network && !network.ok) {
    await host.close();
    throw new AppError('unavailable', [network.detail, network.remedy ?? ''].join(' ').trim());
  }
  if (host.caution !== null) options.warn(host.caution);
  const { sandboxes } = options.capacity;
  const all = { memoryMb: sandboxes * limits.memoryMb, cpus: sandboxes * limits.cpus };
  return serveHost(host, options, host.tasks(all));
}

/** The size of a sandbox’s files. */
const filesMb = 10_240;
const certifiedKey = z.object({ certificate: z.string(), key: z.string() });

/** Pods outlive this process, and trust it alone. */
async function keptAuthority(
  folder: string,
  make: () => Promise<CertifiedKey>,
): Promise<CertifiedKey> {
  const file = join(folder, 'authority.json');
  const kept = readSaved(file, certifiedKey);
  if (kept) return kept;
  const made = await make();
  writeFileSync(file, JSON.stringify(made), { mode: 0o600 });
  return made;
}
