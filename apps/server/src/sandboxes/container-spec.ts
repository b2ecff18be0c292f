import type { ContainerCreateOptions } from 'dockerode';
import type { SandboxVolumes } from './sandbox.js';

/** What carries a label of these belongs to this server, or to one of its sandboxes. */
export const labels = {
  instance: 'belay.instance',
  data: 'belay.data',
  sandbox: 'belay.sandbox',
  session: 'belay.session',
  epoch: 'belay.epoch',
  sidecar: 'belay.sidecar',
} as const;

export interface Limits {
  memoryMb: number;
  /** Never more than the machine has: the engine refuses that. */
  cpus: number;
}

export interface AgentContainer {
  image: string;
  volumes: SandboxVolumes;
  /** The read-only volume with the agent and all it needs. */
  runtime: string;
  /** The folder of this sandbox's socket, mounted into this container alone. */
  ropeFolder: string;
  limits: Limits;
  labels: Record<string, string>;
}

const mebibyte = 2 ** 20;
const user = '1000:1000';
/** Otherwise the engine copies content and ownership of the image's folder into a volume that is still empty. */
const asItIs = { Type: 'volume' as const, VolumeOptions: { NoCopy: true } as never };
/** The owner is named, for runc gives a temporary file system the mode of the image's folder: 0755 for /run. */
const scratch = 'rw,exec,nosuid,nodev,uid=1000,gid=1000,mode=1777';

/** What every container of ours has in common: no rights, bounded resources, bounded logs. */
export function hardened({ memoryMb, cpus }: Limits): ContainerCreateOptions['HostConfig'] {
  const memory = memoryMb * mebibyte;
  return {
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    ReadonlyRootfs: true,
    Init: true,
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: Math.round(cpus * 1e9),
    PidsLimit: 512,
    ShmSize: 256 * mebibyte,
    // When the machine itself runs out of memory, a sandbox goes before the server does.
    OomScoreAdj: 500,
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
    LogConfig: { Type: 'local', Config: { 'max-size': '1m', 'max-file': '2' } },
    RestartPolicy: { Name: 'no' },
  };
}

/** The container of an agent. Nothing is assumed of the image: no shell, no user, no entry in passwd. */
export function agentContainer(what: AgentContainer): ContainerCreateOptions {
  const half = Math.max(64, Math.floor(what.limits.memoryMb / 2));
  return {
    Image: what.image,
    User: user,
    WorkingDir: '/workspace',
    // Node's own WebSocket, which the agent never uses, would load all of fetch.
    Entrypoint: ['/opt/belay/node', '--no-experimental-websocket', '/opt/belay/agent.cjs'],
    Cmd: [],
    Env: [
      'BELAY_ROPE=unix:/run/belay/rope.sock',
      'BELAY_WORKSPACE=/workspace',
      'BELAY_STATE=/var/lib/belay',
      'HOME=/var/lib/belay/home',
      'NODE_COMPILE_CACHE=/opt/belay/compiled',
    ],
    Labels: what.labels,
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGTERM',
    HostConfig: {
      ...hardened(what.limits),
      NetworkMode: 'none',
      Tmpfs: {
        '/tmp': `${scratch},size=${half}m`,
        '/var/tmp': `${scratch},size=${half}m`,
        '/run': `${scratch},size=64m`,
      },
      Mounts: [
        { ...asItIs, Source: what.volumes.workspace, Target: '/workspace' },
        { ...asItIs, Source: what.volumes.state, Target: '/var/lib/belay' },
        { ...asItIs, Source: what.runtime, Target: '/opt/belay', ReadOnly: true },
        { Type: 'bind', Source: what.ropeFolder, Target: '/run/belay' },
      ],
    },
  };
}

/**
 * A container of the runtime's image that never starts: creating it hands the ownership of the image's empty
 * folders over to the fresh volumes.
 */
export function ownershipContainer(
  image: string,
  volumes: SandboxVolumes,
  owner: Record<string, string>,
): ContainerCreateOptions {
  return {
    Image: image,
    Labels: owner,
    HostConfig: {
      NetworkMode: 'none',
      Mounts: [
        { Type: 'volume', Source: volumes.workspace, Target: '/workspace' },
        { Type: 'volume', Source: volumes.state, Target: '/var/lib/belay' },
      ],
    },
  };
}

/** Chromium beside an agent: it shares the agent's loopback and workspace, and nothing else. */
export function sidecarContainer(what: {
  image: string;
  agent: string;
  workspace: string;
  limits: Limits;
  labels: Record<string, string>;
}): ContainerCreateOptions {
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--user-data-dir=/tmp/profile',
    '--remote-debugging-address=127.0.0.1',
    '--remote-debugging-port=0',
    'about:blank',
  ];
  const find = 'for name in chromium chromium-browser google-chrome headless-shell; do';
  const start = `${find} command -v $name >/dev/null && exec $name "$@"; done; exit 127`;
  return {
    Image: what.image,
    User: user,
    WorkingDir: '/workspace',
    Entrypoint: ['/bin/sh', '-c', start, 'chromium'],
    Cmd: flags,
    Env: ['HOME=/tmp/home'],
    Labels: what.labels,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...hardened(what.limits),
      NetworkMode: `container:${what.agent}`,
      Tmpfs: { '/tmp': scratch },
      Mounts: [{ ...asItIs, Source: what.workspace, Target: '/workspace' }],
    },
  };
}
