import { join, posix } from 'node:path';
import { browserCommand } from '../browser-command.js';
import type { SandboxProfile } from '@belay/protocol';
import type { ContainerCreateOptions, MountSettings } from 'dockerode';
import type { Labels, Limits } from '../container-host.js';

/** Labels of everything that belongs to this server, or to one of its sandboxes. */
export const labels = {
  instance: 'belay.instance',
  data: 'belay.data',
  /** The id of the server that made it: one of several that share an instance. */
  server: 'belay.server',
  sandbox: 'belay.sandbox',
  session: 'belay.session',
  epoch: 'belay.epoch',
  sidecar: 'belay.sidecar',
  /** The name of an action, on its images and on every container that runs or makes it. */
  action: 'belay.action',
  /** On a volume with an installed agent, and on what fills and inspects it: the server’s instance. */
  agent: 'belay.agent',
  /** On a volume with a user’s own sign-in to an agent: the server’s instance. */
  login: 'belay.login',
  /** The user that a sandbox’s programs run as. */
  user: 'belay.user',
  /** On an image: names of its sandboxes' own loopback address, separated by spaces. */
  hosts: 'belay.hosts',
} as const;

/** The names of the volumes with a sandbox’s files. */
export interface SandboxVolumes {
  workspace: string;
  state: string;
}

/** A container’s name in `docker ps`. */
export function containerName(label: string, role: 'agent' | 'volumes' = 'agent'): string {
  const owner = label.replaceAll(/[^\w.-]/g, '_');
  return role === 'agent' ? `belay-${owner}` : `belay-${owner}-${role}`;
}

/** What a container of this name belongs to, for people. */
export const labelOf = (name: string): string => name.replace(/^belay-/, '');

/** Where the first program of a container finds its socket. */
export const connectionVariable = 'BELAY_CONNECTION=unix:/run/belay/agent.sock';

export interface AgentContainer {
  name: string;
  image: string;
  profile: SandboxProfile;
  volumes: SandboxVolumes;
  /** Whether new volumes take over the owner of the image’s folders at their mount points. */
  seeded: boolean;
  /** The read-only volume with the agent and its dependencies. */
  runtime: string;
  /** The folder with this sandbox’s socket and `/etc/hosts`, mounted only into this container. */
  socketFolder: string;
  /** Folders of this machine that are shared with it, and those of an installed agent. */
  shared: readonly MountSettings[];
  limits: Limits;
  /** Variables for package tools. */
  tools: Readonly<Record<string, string>>;
  labels: Record<string, string>;
}

const mebibyte = 2 ** 20;
const user = 1000;
/** The label of images that have empty folders at the volumes’ mount points, owned by the sandbox’s user. */
export const seedsVolumes = 'belay.seeds-volumes';
/**
 * Without a network, the engine writes no such file. `localhost` is only the IPv4 address, where most servers listen.
 */
export const hosts = {
  file: 'hosts',
  /** `names` also lead to the loopback address. */
  content: (names: readonly string[] = []) =>
    [
      '127.0.0.1\tlocalhost\n::1\tip6-localhost ip6-loopback\n',
      ...names.map((name) => `127.0.0.1\t${name}\n`),
    ].join(''),
} as const;
/**
 * With these, the agent, which starts as root, can switch to another user than its programs; the programs have none.
 */
export const separationCapabilities = ['SETGID', 'SETUID'];
/** Capabilities that apt, dpkg and services that switch users need; none reaches beyond the container. */
export const rootCapabilities = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
];
/**
 * Node’s own WebSocket, which the agent never uses, would load all of fetch; SIGUSR1 would open its inspector. Of four
 * threads for garbage collection and optimization, three only cost processor time in a program that mostly waits.
 */
export const nodeFlags = ['--no-experimental-websocket', '--disable-sigusr1', '--v8-pool-size=1'];
/**
 * An agent makes 16 MB of objects while it starts, most of which stay. With V8’s small first spaces, it would collect
 * garbage seven times meanwhile: a tenth of the start’s processor time when many start at once. The agent gives the
 * memory back as soon as it waits.
 */
export const agentFlags = [...nodeFlags, '--min-semi-space-size=16'];
/**
 * The owner is set explicitly, because runc gives a temporary file system the mode of the image’s folder: 0755 for
 * /run.
 */
export const scratch = (owner: number, { readOnly = false } = {}): string =>
  `${readOnly ? 'ro' : 'rw'},exec,nosuid,nodev,uid=${owner},gid=${owner},mode=1777`;

/** The engine creates a missing volume; an empty one takes over the image’s folder if it is `seeded`. */
export function volume(
  mount: { Source: string; Target: string; ReadOnly?: boolean },
  { seeded = false, labels }: { seeded?: boolean; labels?: Labels } = {},
): MountSettings {
  const options = {
    NoCopy: !seeded,
    Labels: labels ?? {},
    DriverConfig: { Name: '', Options: {} },
  };
  return { Type: 'volume', ...mount, VolumeOptions: options };
}

/** Mounts below a folder would not be read-only, so they are left out. */
const alone = { Propagation: 'rprivate' as const, NonRecursive: true };

/** A folder of this machine, without other mounts below it. */
export const hostFolder = (folder: {
  path: string;
  real: string;
  readOnly: boolean;
}): MountSettings => ({
  Type: 'bind',
  Source: folder.real,
  Target: folder.path,
  ReadOnly: folder.readOnly,
  BindOptions: alone,
});

/** The common options of all our containers: no rights, limited resources, limited logs. */
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
    // If the machine itself runs out of memory, sandboxes are killed before the server.
    OomScoreAdj: 500,
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
    LogConfig: { Type: 'local', Config: { 'max-size': '1m', 'max-file': '2' } },
    RestartPolicy: { Name: 'no' },
  };
}

/** The container of an agent. Nothing is assumed of the image: no shell, no user, no entry in passwd. */
export function agentContainer(what: AgentContainer): ContainerCreateOptions {
  const isRoot = what.profile === 'root';
  const owner = isRoot ? 0 : user;
  const temporary = scratch(owner);
  const { workspace, state } = what.volumes;
  const kept = { seeded: what.seeded, labels: what.labels };
  const half = Math.max(64, Math.floor(what.limits.memoryMb / 2));
  return {
    name: what.name,
    Image: what.image,
    // For the agent: see `separateFromPrograms` there.
    User: '0:0',
    WorkingDir: '/workspace',
    Entrypoint: ['/opt/belay/node', ...agentFlags, '/opt/belay/start.cjs'],
    Cmd: [],
    Env: [
      connectionVariable,
      `BELAY_USER=${owner}`,
      'BELAY_WORKSPACE=/workspace',
      'BELAY_STATE=/var/lib/belay',
      'HOME=/var/lib/belay/home',
      // Overrides the image’s own cache, which programs could write to.
      'NODE_COMPILE_CACHE=',
      ...Object.entries(what.tools).map(([name, value]) => `${name}=${value}`),
    ],
    Labels: { ...what.labels, [labels.user]: `${owner}:${owner}` },
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGTERM',
    // Loopback still exists. With `none` alone, the engine keeps a network sandbox of its own, for which it runs
    // itself twice at each start: two fifths of a start’s processor time.
    NetworkDisabled: true,
    HostConfig: {
      ...hardened(what.limits),
      CapAdd: separationCapabilities,
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
        // Connecting to a socket needs no write access to its folder.
        { Type: 'bind', Source: what.socketFolder, Target: '/run/belay', ReadOnly: true },
        {
          Type: 'bind',
          Source: join(what.socketFolder, hosts.file),
          Target: '/etc/hosts',
          ReadOnly: !isRoot,
        },
        ...what.shared,
      ],
    },
  };
}

/**
 * A container of the runtime’s image that never starts: creating it makes the volumes, which take over the owner of
 * that image’s empty folders. For images that do not do this themselves.
 */
export function ownershipContainer(what: {
  name: string;
  image: string;
  volumes: SandboxVolumes;
  labels: Labels;
  volumeLabels: Labels;
}): ContainerCreateOptions {
  const { workspace, state } = what.volumes;
  const fresh = { seeded: true, labels: what.volumeLabels };
  return {
    name: what.name,
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

/** A container that never starts: its image can be inspected, and a volume be filled through it. */
export const idleContainer = (what: {
  name: string;
  image: string;
  /** A new volume takes over the image’s folder there if it is `seeded`. */
  volume?: { name: string; target: string; labels: Labels; seeded?: boolean };
  labels: Labels;
}): ContainerCreateOptions => ({
  name: what.name,
  Image: what.image,
  Cmd: ['-'],
  Labels: what.labels,
  HostConfig: {
    NetworkMode: 'none',
    ...(what.volume && {
      Mounts: [
        volume(
          { Source: what.volume.name, Target: what.volume.target },
          { labels: what.volume.labels, seeded: what.volume.seeded ?? false },
        ),
      ],
    }),
  },
});

/** A Chromium container beside an agent, which shares the agent’s loopback and workspace, and nothing else. */
export function sidecarContainer(what: {
  name: string;
  image: string;
  agent: string;
  /** The agent’s user, so that files saved by the browser belong to it. */
  user: string;
  workspace: string;
  limits: Limits;
  labels: Record<string, string>;
}): ContainerCreateOptions {
  const [program = '', ...words] = browserCommand(0);
  return {
    name: what.name,
    Image: what.image,
    User: what.user,
    WorkingDir: '/workspace',
    Entrypoint: [program],
    Cmd: words,
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

/**
 * Replaces the volumes that an image declares by file systems in memory, each limited to half of the container’s
 * memory. The engine would make an unlimited folder on its disk for each. They are for all users, or for their owner: see
 * `scratch`.
 */
export function withVolumesInMemory(
  config: ContainerCreateOptions['HostConfig'] = {},
  declared: Readonly<Record<string, unknown>> | null | undefined,
  owner?: number,
): NonNullable<ContainerCreateOptions['HostConfig']> {
  const placeOf = (path: string): string => posix.join('/', path).replace(/(.)\/$/, '$1');
  const { Mounts = [], Tmpfs = {}, Memory = 0 } = config;
  const taken = new Set(
    [...Mounts.map(({ Target }) => Target), ...Object.keys(Tmpfs)].map(placeOf),
  );
  const places = new Set(Object.keys(declared ?? {}).map(placeOf));
  const free = [...places].filter((place) => !taken.has(place));
  const SizeBytes = Math.floor(Memory / 2);
  if (owner !== undefined) {
    const owned = free.map((place) => [place, `${scratch(owner)},size=${SizeBytes}`]);
    return { ...config, Tmpfs: { ...Tmpfs, ...Object.fromEntries(owned) } };
  }
  const inMemory = free.map((Target): MountSettings => ({
    Type: 'tmpfs',
    Source: '',
    Target,
    TmpfsOptions: { SizeBytes, Mode: 0o1777 },
  }));
  return { ...config, Mounts: [...Mounts, ...inMemory] };
}
