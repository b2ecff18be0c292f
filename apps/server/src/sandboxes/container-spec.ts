import { join } from 'node:path';
import type { SandboxProfile } from '@belay/protocol';
import type { ContainerCreateOptions, MountSettings } from 'dockerode';
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
  profile: SandboxProfile;
  volumes: SandboxVolumes;
  /** Fresh volumes that take over the owner of the image's folders at their places. */
  seeded: boolean;
  /** The read-only volume with the agent and all it needs. */
  runtime: string;
  /** The folder of this sandbox's socket and of its `/etc/hosts`, mounted into this container alone. */
  ropeFolder: string;
  limits: Limits;
  /** Variables for package tools. */
  tools: Record<string, string>;
  labels: Record<string, string>;
}

const mebibyte = 2 ** 20;
const user = '1000:1000';
/** An image with this label has empty folders at the places of the volumes, which belong to the sandbox's user. */
export const seedsVolumes = 'belay.seeds-volumes';
/** The engine writes none where it makes no network. `localhost` is the IPv4 one alone, as most servers listen. */
export const hosts = {
  file: 'hosts',
  content: '127.0.0.1\tlocalhost\n::1\tip6-localhost ip6-loopback\n',
} as const;
/** What apt, dpkg and services that change their user need; nothing here reaches beyond the container. */
const rootCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID'];
/** The owner is named, for runc gives a temporary file system the mode of the image's folder: 0755 for /run. */
const scratch = (owner: number): string =>
  `rw,exec,nosuid,nodev,uid=${owner},gid=${owner},mode=1777`;

/** The engine makes a volume that is not there; one that is empty takes over the image's folder, if it is `seeded`. */
function volume(
  mount: { Source: string; Target: string; ReadOnly?: boolean },
  { seeded = false, labels }: { seeded?: boolean; labels?: Record<string, string> } = {},
): MountSettings {
  const options = {
    NoCopy: !seeded,
    Labels: labels ?? {},
    DriverConfig: { Name: '', Options: {} },
  };
  return { Type: 'volume', ...mount, VolumeOptions: options };
}

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
  const isRoot = what.profile === 'root';
  const temporary = scratch(isRoot ? 0 : 1000);
  const { workspace, state } = what.volumes;
  const kept = { seeded: what.seeded, labels: what.labels };
  const half = Math.max(64, Math.floor(what.limits.memoryMb / 2));
  return {
    Image: what.image,
    User: isRoot ? '0:0' : user,
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
      ...Object.entries(what.tools).map(([name, value]) => `${name}=${value}`),
    ],
    Labels: what.labels,
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGTERM',
    // There is a loopback all the same. With `none` alone the engine keeps a network sandbox of its own, for which
    // it runs itself twice at each start: two fifths of a start's processor time.
    NetworkDisabled: true,
    HostConfig: {
      ...hardened(what.limits),
      ...(isRoot && { ReadonlyRootfs: false, CapAdd: rootCapabilities }),
      NetworkMode: 'none',
      Tmpfs: {
        '/tmp': `${temporary},size=${half}m`,
        '/var/tmp': `${temporary},size=${half}m`,
        '/run': `${temporary},size=64m`,
      },
      Mounts: [
        volume({ Source: workspace, Target: '/workspace' }, kept),
        volume({ Source: state, Target: '/var/lib/belay' }, kept),
        volume({ Source: what.runtime, Target: '/opt/belay', ReadOnly: true }),
        { Type: 'bind', Source: what.ropeFolder, Target: '/run/belay' },
        {
          Type: 'bind',
          Source: join(what.ropeFolder, hosts.file),
          Target: '/etc/hosts',
          ReadOnly: !isRoot,
        },
      ],
    },
  };
}

/**
 * A container of the runtime's image that never starts: creating it makes the volumes, which take over the owner
 * of that image's empty folders. For images that do not seed them themselves.
 */
export function ownershipContainer(what: {
  image: string;
  volumes: SandboxVolumes;
  labels: Record<string, string>;
  volumeLabels: Record<string, string>;
}): ContainerCreateOptions {
  const { workspace, state } = what.volumes;
  const fresh = { seeded: true, labels: what.volumeLabels };
  return {
    Image: what.image,
    Labels: what.labels,
    HostConfig: {
      NetworkMode: 'none',
      Mounts: [
        volume({ Source: workspace, Target: '/workspace' }, fresh),
        volume({ Source: state, Target: '/var/lib/belay' }, fresh),
      ],
    },
  };
}

/** Chromium beside an agent: it shares the agent's loopback and workspace, and nothing else. */
export function sidecarContainer(what: {
  image: string;
  agent: string;
  /** The agent's: what the browser saves belongs to it. */
  user: string;
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
    User: what.user,
    WorkingDir: '/workspace',
    Entrypoint: ['/bin/sh', '-c', start, 'chromium'],
    Cmd: flags,
    Env: ['HOME=/tmp/home'],
    Labels: what.labels,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...hardened(what.limits),
      NetworkMode: `container:${what.agent}`,
      Tmpfs: { '/tmp': scratch(Number.parseInt(what.user, 10)) },
      Mounts: [volume({ Source: what.workspace, Target: '/workspace' })],
    },
  };
}
