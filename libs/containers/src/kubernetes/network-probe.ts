import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { closedApiAddresses, closedNodeAddresses } from './closed-addresses.js';
import type { Cluster } from './cluster.js';
import { ownLabels, type OwnPods } from './own-pods.js';
import { firstContainer, type PodPlace } from './pod-parts.js';
import { folderOfRuntime } from './unpacking-command.js';
import { imagePod } from './pod-spec.js';
import { canReach } from './can-reach.js';

/** What no pod may reach but the port for agents, in words. */
const named = {
  api: 'the cluster’s API server',
  nodes: 'its nodes',
  pods: 'other pods',
  names: 'its name servers',
  server: 'another port of the Belay server',
  metadata: 'the metadata address of clouds',
  public: 'public addresses',
} as const;

const tried = z.object({
  what: z.enum(Object.keys(named) as (keyof typeof named)[]),
  host: z.string(),
  port: z.number().int(),
  udp: z.boolean().optional(),
  isOpen: z.boolean(),
});

type Tried = z.output<typeof tried>;
type Target = Omit<Tried, 'isOpen'>;

/** What pods reach, in words. */
export interface Reach {
  open: string[];
  closed: string[];
  /** They do not, but nobody else does either, so it may just not be there. */
  unknown: string[];
}

const fixed: readonly Target[] = [
  { what: 'metadata', host: '169.254.169.254', port: 80 },
  { what: 'public', host: '1.1.1.1', port: 443 },
  { what: 'public', host: '2606:4700:4700::1111', port: 443 },
];
/** The kubelet, and what is often open beside it. */
const nodePorts = [10_250, 22];
const listenPort = 8080;
/** Until a pod that runs listens, and until this process has tried an address itself, in ms. */
const listenTimeoutMs = 15_000;
const lookMs = 300;
const connectTimeoutMs = 1_000;
const logLines = 100;

/** Tries what pods reach, from inside of one: a policy may be missing, not be enforced, or be opened by another one. */
export class NetworkProbe {
  constructor(
    private readonly cluster: Cluster,
    private readonly pods: OwnPods,
    /** Of this server, as pods would reach it. */
    private readonly others: readonly { host: string; port: number }[],
  ) {}

  /** Takes some seconds, and 20 more while something is open. Throws one sentence when no pod can be run. */
  async run(): Promise<Reach> {
    const [listener, prober] = [newId(), newId()];
    try {
      const listening = await this.pods.start(
        listener,
        podThat({ id: listener, listen: listenPort }),
      );
      const listens = await this.#listens(listening.metadata?.name ?? '');
      const targets = await this.#targets(listening);
      const pod = podThat({ id: prober, targets });
      const found = await this.pods.run(
        prober,
        (place) => withNames(pod(place)),
        (ended) => this.#read(ended),
      );
      return await reachOf(found, listens);
    } finally {
      await this.pods.remove(listener);
    }
  }

  async #targets(pod: V1Pod): Promise<Target[]> {
    const { server } = this.cluster;
    const api = await closedApiAddresses(server);
    const port = Number(new URL(server).port || 443);
    return [
      ...api.map((host) => ({ what: 'api' as const, host, port })),
      ...closedNodeAddresses(pod).flatMap((host) =>
        nodePorts.map((one) => ({ what: 'nodes' as const, host, port: one })),
      ),
      ...(pod.status?.podIPs ?? []).map(({ ip }) => ({
        what: 'pods' as const,
        host: ip,
        port: listenPort,
      })),
      ...this.others.map((one) => ({ what: 'server' as const, ...one })),
      ...fixed,
    ];
  }

  /** Whether the pod that others try to reach can be reached at all. */
  async #listens(name: string): Promise<boolean> {
    const end = Date.now() + listenTimeoutMs;
    for (;;) {
      const printed = await this.cluster.lastLines(name, firstContainer, 1);
      if (printed !== '' || Date.now() > end) return printed.trim() === 'listening';
      await delay(lookMs);
    }
  }

  async #read({ metadata }: V1Pod): Promise<Tried[]> {
    const printed = await this.cluster.lastLines(metadata?.name ?? '', firstContainer, logLines);
    try {
      const lines = printed.trim().split('\n');
      return lines.map((line) => tried.parse(JSON.parse(line)));
    } catch {
      throw new AppError('unavailable', 'The pod that tries the network reported nothing.');
    }
  }
}

/** Positive controls: what this process or the pod itself reaches is there. */
async function reachOf(found: readonly Tried[], listens: boolean): Promise<Reach> {
  const known = await Promise.all(
    found.map(async (one) => ({
      what: one.what,
      state: one.isOpen
        ? 'open'
        : (one.what === 'pods' ? listens : await canReach(one, connectTimeoutMs))
          ? 'closed'
          : 'unknown',
    })),
  );
  const reach: Reach = { open: [], closed: [], unknown: [] };
  for (const [what, name] of Object.entries(named)) {
    const states = known.filter((one) => one.what === what).map(({ state }) => state);
    const state = (['open', 'closed', 'unknown'] as const).find((one) => states.includes(one));
    if (state) reach[state].push(name);
  }
  return reach;
}

const newId = (): string => randomBytes(6).toString('hex');

/** Of the runtime alone, whose code is ours: what it prints is believed. */
const podThat =
  ({ id, ...instructions }: { id: string; listen?: number; targets?: readonly Target[] }) =>
  (place: PodPlace): V1Pod =>
    imagePod(
      {
        id,
        image: place.runtimeImage,
        labels: ownLabels,
        command: [`${folderOfRuntime}/probe-pod.cjs`, JSON.stringify(instructions)],
      },
      { ...place, isConfined: false },
    );

/** Other pods are not told where the cluster’s name servers are. */
function withNames(pod: V1Pod): V1Pod {
  if (pod.spec) pod.spec.dnsPolicy = 'ClusterFirst';
  delete pod.spec?.dnsConfig;
  return pod;
}
