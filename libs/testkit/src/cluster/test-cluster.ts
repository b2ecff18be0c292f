import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import type {
  CoreV1Api,
  KubeConfig,
  KubernetesObject,
  KubernetesObjectApi,
  NetworkingV1Api,
  V1NetworkPolicy,
  V1NetworkPolicyList,
} from '@kubernetes/client-node';
import { prepared } from '../environment.js';
import { addressForPods } from './address-for-pods.js';
import { renderChart } from './render-chart.js';

type KubernetesClient = typeof import('@kubernetes/client-node');

/** The ports of hosts under test. */
const ports = { first: 20_000, last: 29_999 };

interface Apis {
  core: CoreV1Api;
  networking: NetworkingV1Api;
  objects: KubernetesObjectApi;
}

/** The cluster of a test, with a namespace of its own as docs/kubernetes.md makes it. */
export class TestCluster {
  // Processes that run at once have numbers in a row.
  #lastPort = ports.first + 100 * (process.pid % 99);

  private constructor(
    readonly namespace: string,
    /** An address of this machine that pods can reach. */
    readonly address: string,
    private readonly apis: Apis,
    private readonly folder: string,
  ) {}

  /** With the rights for `Sandbox` objects of agent-sandbox only if these are used. */
  static async open({ agentSandbox = false } = {}): Promise<TestCluster> {
    // Most tests that use this library need no cluster.
    const client = await import('@kubernetes/client-node');
    const config = new client.KubeConfig();
    config.loadFromFile(prepared('BELAY_TEST_CLUSTER'));
    const core = config.makeApiClient(client.CoreV1Api);
    const name = `belay-test-${randomBytes(4).toString('hex')}`;
    const address = await addressForPods(config);
    const objects = client.KubernetesObjectApi.makeApiClient(config);
    const made = { name, address, agentSandbox };
    for (const one of await objectsFor(client, made)) await objects.create(one);
    // Without it, no pod can be made there.
    await until('the namespace has its account', async () =>
      core.readNamespacedServiceAccount({ name: 'default', namespace: name }).catch(() => false),
    );
    const folder = mkdtempSync(join(tmpdir(), 'kubernetes-'));
    const networking = config.makeApiClient(client.NetworkingV1Api);
    const apis = { core, networking, objects };
    const opened = new TestCluster(name, address, apis, folder);
    await opened.#writeConfig(client, config);
    return opened;
  }

  get core(): CoreV1Api {
    return this.apis.core;
  }

  /** The access of the server’s own account. */
  get kubeconfig(): string {
    return join(this.folder, 'config');
  }

  /** A port that pods can reach. */
  nextPort(): number {
    return (this.#lastPort += 1);
  }

  /** From then on, pods reach whatever the cluster’s network leads to. */
  async removePolicy(): Promise<void> {
    const { namespace } = this;
    const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' };
    await this.apis.objects.delete({ ...policy, metadata: { name: 'belay', namespace } });
  }

  policies(): Promise<V1NetworkPolicyList> {
    return this.apis.networking.listNamespacedNetworkPolicy({ namespace: this.namespace });
  }

  /** Everything in the namespace goes with it. */
  async remove(): Promise<void> {
    await this.core.deleteNamespace({ name: this.namespace });
    rmSync(this.folder, { recursive: true });
  }

  async #writeConfig(client: KubernetesClient, admin: KubeConfig): Promise<void> {
    const { status } = await this.core.createNamespacedServiceAccountToken({
      name: 'belay',
      namespace: this.namespace,
      body: { spec: { audiences: [], expirationSeconds: 7200 } },
    });
    const own = new client.KubeConfig();
    const cluster = admin.getCurrentCluster();
    if (!cluster) throw new Error('BELAY_TEST_CLUSTER has no current context.');
    own.loadFromClusterAndUser(cluster, { name: 'belay', token: status?.token ?? '' });
    writeFileSync(this.kubeconfig, own.exportConfig(), { mode: 0o600 });
  }
}

/** Those of the chart for a server outside of the cluster, with the ports of several servers. */
async function objectsFor(
  { loadAllYaml }: KubernetesClient,
  { name, address, agentSandbox }: { name: string; address: string; agentSandbox: boolean },
): Promise<KubernetesObject[]> {
  const rendered = await renderChart(name, {
    server: { enabled: false },
    sandboxes: { namespace: { name, create: false }, serverAddress: address, agentSandbox },
  });
  const level = { 'pod-security.kubernetes.io/enforce': 'baseline' };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: level } };
  const objects = [namespace, ...(loadAllYaml(rendered) as KubernetesObject[])];
  const policy = objects.find(({ kind }) => kind === 'NetworkPolicy') as V1NetworkPolicy;
  for (const { ports: open } of policy.spec?.egress ?? [])
    open?.splice(0, open.length, { protocol: 'TCP', port: ports.first, endPort: ports.last });
  return objects;
}
