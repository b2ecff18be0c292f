import type {
  V1Container,
  V1EnvVar,
  V1OwnerReference,
  V1Pod,
  V1ResourceRequirements,
  V1Secret,
  V1Toleration,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node';
import type { ContainerSpec, Labels, Limits } from '../container-host.js';
import { keys, metadataOf, objectName } from './names.js';
import type { Folder } from './pod-folders.js';
import type { PodScheduling } from './pod-scheduling.js';
import { folderOfRuntime } from './unpacking-command.js';

/** What a pod gets beside what is asked for. */
export interface PodPlace {
  /** Of the owner, as `keys.instance`. */
  instance: string;
  /** Of everything that the owner creates. */
  labels: Labels;
  /** The image with `/opt/belay`. */
  runtimeImage: string;
  /** What the first program dials, with a token from a file, and the only authority that it trusts, as PEM. */
  address: string;
  trusted: string;
  tokenHash: string;
  /** The size of a container’s files, in MiB, when they are in its pod and end with it; null for claims. */
  podFilesMb: number | null;
  /** For agents whose image is another one; null for none. */
  browser: BrowserBeside | null;
  /** Whether pods end that reach what they must not. */
  isConfined: boolean;
  scheduling: PodScheduling;
}

/** The browsers of pods whose image has none. */
export interface BrowserBeside {
  /** An image with Chromium and a shell. */
  image: string;
  limits: Limits;
}

/** A container with what it mounts, also of the first container. */
export interface Beside {
  container: V1Container;
  folders: readonly Folder[];
}

/** A container on the loopback of the first one, which this name leads to. */
export interface PodService {
  name: string;
  container: V1Container;
}

/** What differs between pods. */
export interface Parts {
  spec: Pick<ContainerSpec, 'id' | 'label' | 'labels' | 'image'>;
  first: Pick<V1Container, 'command' | 'env' | 'workingDir' | 'securityContext' | 'resources'>;
  folders: readonly Folder[];
  services: readonly PodService[];
  /** How many layers the pod gets for its images, and their MiB at most, packed or unpacked. */
  layers: { count: number; mb: number };
  /** Of the host itself, beside the first container. */
  beside: Beside | null;
  placed: readonly string[];
  writtenMb: number;
  /** Names the files of the container whose node is preferred. */
  near: string | null;
  metadata: Labels;
}

/** The container that everything else of a pod is for. */
export const firstContainer = 'first';
/** Runs before all others, see docker/agent/prepare-pod.cjs. */
export const preparingContainer = 'prepare';

/** The size of the runtime, which each pod has a copy of. */
const runtimeMb = 512;
const folderOfToken = '/run/belay';

/** The name of a container’s pod, and of the secret with its token. */
export const podName = (instance: string, id: string): string => objectName(instance, id);

/** A whole pod. */
export function podOf(parts: Parts, place: PodPlace): V1Pod {
  const { spec, services } = parts;
  const name = podName(place.instance, spec.id);
  const isConnected = parts.first.env?.some((one) => one.name === tokenVariable) ?? false;
  const volumes = new Map(allFolders(parts).map(({ volume }) => [volume.name, volume]));
  const { labels, annotations } = metadataOf({
    ...place.labels,
    ...spec.labels,
    ...parts.metadata,
    [keys.instance]: place.instance,
    [keys.container]: spec.id,
  });
  return {
    metadata: {
      name,
      labels: { ...labels, 'app.kubernetes.io/managed-by': 'belay' },
      annotations: {
        ...annotations,
        ...undisturbed,
        [keys.label]: spec.label,
        ...(isConnected && { [keys.token]: place.tokenHash }),
      },
    },
    spec: {
      ...confined,
      ...place.scheduling,
      // The cluster takes the first one that fits.
      tolerations: [...(place.scheduling.tolerations ?? []), ...untilLost],
      ...(services.length > 0 && { hostAliases: services.map((one) => loopback(one.name)) }),
      ...(parts.near !== null && { affinity: nearTo(parts.near) }),
      initContainers: [preparation(parts, place)],
      containers: [
        ...services.map(({ container }) => container),
        ...(parts.beside ? [parts.beside.container] : []),
        first(parts),
      ],
      volumes: [
        { name: 'runtime', emptyDir: { sizeLimit: `${runtimeMb + parts.layers.mb}Mi` } },
        ...(isConnected ? secretVolumes(name, parts.placed) : []),
        ...volumes.values(),
      ],
    },
  };
}

const allFolders = ({ folders, beside }: Parts): Folder[] => [
  ...folders,
  ...(beside?.folders ?? []),
];

/** No token of the cluster, no names of the cluster, and no second start. */
const confined = {
  restartPolicy: 'Never',
  // For ends that no server asked for, such as a drained node’s: an agent sends what it has left. See `removePod`.
  terminationGracePeriodSeconds: 5,
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['127.0.0.1'] },
  securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
};

/** How long a pod waits for its node before the cluster gives it up, which without this is 300 s. */
const untilLost: readonly V1Toleration[] = ['not-ready', 'unreachable'].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 30,
}));

/** Nobody moves a pod or puts containers into it. */
const undisturbed = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'sidecar.istio.io/inject': 'false',
  'linkerd.io/inject': 'disabled',
};

const loopback = (name: string) => ({ ip: '127.0.0.1', hostnames: [name] });

/** A volume of a node can be used by several pods of that node alone. */
const nearTo = (files: string) => ({
  podAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchLabels: { [keys.files]: files } },
        },
      },
    ],
  },
});

/** Brings the runtime, makes the folders, ends the pod unless its network is confined, and fetches layers. */
function preparation(parts: Parts, place: PodPlace): V1Container {
  const { writtenMb, services, layers } = parts;
  const made = allFolders(parts).filter(({ readOnly, volume }) => !readOnly || volume.emptyDir);
  const volumes = new Set(made.map(({ volume }) => volume.name));
  const instructions = {
    runtime: '/runtime',
    // Clouds give credentials to whoever asks there.
    closed: place.isConfined ? [{ host: '169.254.169.254', port: 80 }] : null,
    folders: made.map(({ volume, name, owner, mode }) => ({
      path: `/volumes/${volume.name}/${name}`,
      owner,
      mode,
    })),
    layers: { count: layers.count, address: place.address, connection: folderOfToken },
  };
  return {
    name: preparingContainer,
    image: place.runtimeImage,
    imagePullPolicy: 'IfNotPresent',
    command: [
      `${folderOfRuntime}/node`,
      `${folderOfRuntime}/prepare-pod.cjs`,
      JSON.stringify(instructions),
    ],
    securityContext: asRoot(['CHOWN'], true),
    // The limit of all that the pod writes is this one if that is more than those of its containers together.
    resources: resourcesOf(
      { memoryMb: 256, cpus: 2 },
      runtimeMb + layers.mb + (writtenMb + layers.mb) * (services.length + 1),
    ),
    volumeMounts: [
      { name: 'runtime', mountPath: '/runtime' },
      ...(layers.count > 0 ? [connectionMount] : []),
      ...[...volumes].map((name) => ({ name, mountPath: `/volumes/${name}` })),
    ],
  };
}

export const runtimeMount = { name: 'runtime', mountPath: folderOfRuntime, readOnly: true };
const connectionMount = { name: 'connection', mountPath: folderOfToken, readOnly: true };

const first = ({ spec, first: own, folders, placed }: Parts): V1Container => ({
  name: firstContainer,
  image: spec.image,
  imagePullPolicy: 'IfNotPresent',
  args: [],
  ...own,
  env: [...(own.env ?? []), variable('NODE_COMPILE_CACHE', '')],
  volumeMounts: [
    runtimeMount,
    ...folders.map(mountOf),
    ...(own.env?.some((one) => one.name === tokenVariable) ? [connectionMount] : []),
    ...placed.map((path, index): V1VolumeMount => ({
      name: 'placed',
      subPath: placedKey(index),
      mountPath: path,
      readOnly: true,
    })),
  ],
});

export const mountOf = ({ volume, name, path, readOnly }: Folder): V1VolumeMount => ({
  name: volume.name,
  subPath: name,
  mountPath: path,
  readOnly,
});

/** A pod’s token and placed files; removed with the pod. */
export function podSecret(
  pod: V1Pod,
  owner: V1OwnerReference,
  { token, trusted, placed }: { token: string; trusted: string; placed: readonly string[] },
): V1Secret {
  const { name, labels } = pod.metadata ?? {};
  const texts = placed.map((text, index) => [placedKey(index), text]);
  return {
    metadata: { name, labels, ownerReferences: [owner] },
    stringData: { token, trusted, ...(Object.fromEntries(texts) as Record<string, string>) },
  };
}

export const podRights = (add: readonly string[], readOnly: boolean) => ({
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: readOnly,
  capabilities: { drop: ['ALL'], add: [...add] },
});

/** For the agent and the starter: see `separateFromPrograms` there. */
export const asRoot = (add: readonly string[], readOnly: boolean) => ({
  ...podRights(add, readOnly),
  runAsUser: 0,
  runAsGroup: 0,
});

/** A node reserves less than the limits: most containers wait most of the time. */
export const resourcesOf = (
  { memoryMb, cpus }: Limits,
  writtenMb: number,
): V1ResourceRequirements => ({
  requests: {
    cpu: `${Math.min(0.1, cpus)}`,
    memory: `${Math.min(128, memoryMb)}Mi`,
    'ephemeral-storage': `${Math.min(16, writtenMb)}Mi`,
  },
  limits: { cpu: `${cpus}`, memory: `${memoryMb}Mi`, 'ephemeral-storage': `${writtenMb}Mi` },
});

export const variable = (name: string, value: string): V1EnvVar => ({ name, value });

const tokenVariable = 'BELAY_TOKEN_FILE';

export const connectionOf = ({ address }: PodPlace): V1EnvVar[] => [
  variable('BELAY_CONNECTION', address),
  variable(tokenVariable, `${folderOfToken}/token`),
  variable('BELAY_CA_FILE', `${folderOfToken}/ca.pem`),
];

const placedKey = (index: number): string => `placed-${index}`;

/** Only root reads the token. */
const secretVolumes = (secretName: string, placed: readonly string[]): V1Volume[] => [
  {
    name: 'connection',
    secret: {
      secretName,
      items: [
        { key: 'token', path: 'token', mode: 0o400 },
        { key: 'trusted', path: 'ca.pem', mode: 0o400 },
      ],
    },
  },
  ...(placed.length > 0
    ? [
        {
          name: 'placed',
          secret: {
            secretName,
            items: placed.map((_, index) => ({
              key: placedKey(index),
              path: placedKey(index),
              mode: 0o444,
            })),
          },
        },
      ]
    : []),
];
