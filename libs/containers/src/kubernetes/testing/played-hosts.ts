import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubernetesHost, type KubernetesHostOptions } from '../kubernetes-host.js';
import { MemoryImageFiles } from './memory-image-files.js';
import { PlayedCluster } from './played-cluster.js';

/** Hosts of pods in a cluster that is played. */
export class PlayedHosts {
  readonly cluster = new PlayedCluster();
  readonly #folder = mkdtempSync(join(tmpdir(), 'belay-cluster-'));
  readonly kubeconfig = join(this.#folder, 'config');

  async play(): Promise<void> {
    await this.cluster.open();
    await this.cluster.writeConfig(this.kubeconfig);
  }

  open(more: Partial<KubernetesHostOptions> = {}): Promise<KubernetesHost> {
    return KubernetesHost.open({
      kubeconfig: this.kubeconfig,
      namespace: 'agents',
      agentSandbox: false,
      // A pod of the same name would be there already.
      instance: randomBytes(6).toString('hex'),
      labels: { 'belay.owner': 'server' },
      image: 'sandbox:1',
      runtimeImage: 'runtime:1',
      listen: { host: '127.0.0.1', port: 0 },
      address: 'wss://127.0.0.1:4601',
      authority: (make) => make(),
      browser: null,
      filesMb: 64,
      podFiles: { isOn: false, setting: 'FILES' },
      storageClass: undefined,
      imageFiles: new MemoryImageFiles(),
      scheduling: {},
      unconfined: { isAllowed: false, setting: 'ALLOW' },
      closedPort: 4600,
      memorySetting: 'MEMORY',
      ...more,
    });
  }

  async close(): Promise<void> {
    await this.cluster.close();
    rmSync(this.#folder, { recursive: true });
  }
}
