import { hardened, type Limits, rootCapabilities } from '@belay/containers';
import type { ActionManifest } from '@belay/protocol';
import type { ContainerCreateOptions } from 'dockerode';
import {
  connectionMounts,
  starter,
  startVariable,
  type ProgramConnection,
} from '../../programs/program-spec.js';

/**
 * The container in which an action’s image is made. Its programs are as untrusted as the action: they run as root with
 * the rights that packages need, without a network of the engine. Mounted files are not part of the image.
 */
export function actionBuildContainer(what: {
  name: string;
  image: string;
  /** Null for a container that never starts. */
  command: readonly string[] | null;
  connection: ProgramConnection | null;
  limits: Limits;
  labels: Record<string, string>;
}): ContainerCreateOptions {
  const { limits, connection } = what;
  const start = startVariable({ egress: true, services: {}, output: null });
  const scratch = `rw,exec,nosuid,nodev,mode=1777,size=${limits.memoryMb}m`;
  return {
    name: what.name,
    Image: what.image,
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: connection ? starter : ['/none'],
    Cmd: [...(what.command ?? [])],
    Env: connection ? [start] : [],
    Labels: what.labels,
    Healthcheck: { Test: ['NONE'] },
    Tty: false,
    AttachStdout: true,
    AttachStderr: true,
    NetworkDisabled: true,
    HostConfig: {
      ...hardened(limits),
      CapAdd: rootCapabilities,
      ReadonlyRootfs: false,
      LogConfig: { Type: 'none', Config: {} },
      NetworkMode: 'none',
      Tmpfs: { '/tmp': scratch, '/run': scratch },
      Mounts: connection ? connectionMounts(connection) : [],
    },
  };
}

/** The commands to run in it, as a POSIX shell script with its arguments; null when there are none. */
export function buildCommand(
  { debian = [], npm = [], pip = [] }: ActionManifest['packages'],
  { hasSetup, variables }: { hasSetup: boolean; variables: Readonly<Record<string, string>> },
): string[] | null {
  const steps = [
    ...(debian.length > 0
      ? [
          'apt-get update',
          `apt-get install --yes --no-install-recommends -- ${quoted(debian)}`,
          'rm -rf /var/lib/apt/lists/*',
        ]
      : []),
    ...(npm.length > 0 ? [`npm install --global --no-audit --no-fund -- ${quoted(npm)}`] : []),
    ...(pip.length > 0
      ? [`PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir -- ${quoted(pip)}`]
      : []),
    ...(hasSetup ? ['cd /action', './setup'] : []),
  ];
  if (steps.length === 0) return null;
  const set = { HOME: '/root', DEBIAN_FRONTEND: 'noninteractive', ...variables };
  const exported = Object.entries(set).map(([name, value]) => `export ${name}=${quoted([value])}`);
  const shown = steps.flatMap((step) => [`echo ${quoted([`> ${step}`])}`, step]);
  return ['/bin/sh', '-ec', [...exported, ...shown].join('\n')];
}

const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
