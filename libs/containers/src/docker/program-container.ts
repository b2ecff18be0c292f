import { join } from 'node:path';
import type { ContainerCreateOptions, HostConfig, MountSettings } from 'dockerode';
import type { Limits, ProgramSpec, ServiceSpec } from '../container-host.js';
import {
  connectionVariable,
  hardened,
  hostFolder,
  hosts,
  nodeFlags,
  rootCapabilities,
  scratch,
  separationCapabilities,
  volume,
} from './container-spec.js';
import { volumesOf } from './stored-volumes.js';

/** The memory that the starter needs in its container. */
const starterMb = 64;

export interface ContainerPlace {
  name: string;
  /** The folder with this container’s socket and `/etc/hosts`, mounted only into it. */
  socketFolder: string;
  /** The container whose loopback it shares; null for its own. */
  beside: string | null;
  /** The processors of the machine. */
  cpus: number;
  labels: Record<string, string>;
}

/**
 * A container whose only network is loopback. Of this machine it sees its socket and what is asked for. Its starter is
 * root, so that programs, which have another user and no rights, cannot touch it: see `agentContainer`.
 */
export function programContainer(
  spec: ProgramSpec,
  place: ContainerPlace & { runtime: string },
): ContainerCreateOptions {
  const { rights, user, limits } = spec;
  const isBuild = rights === 'build';
  // Root without rights could not become another user.
  const isSeparate = isBuild || user !== 0;
  const memoryMb = limits.memoryMb + starterMb;
  return {
    name: place.name,
    Image: spec.image,
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: ['/opt/belay/node', ...nodeFlags, '/opt/belay/contained.cjs'],
    Cmd: [],
    Env: [connectionVariable, ...(isSeparate ? [`BELAY_USER=${user}`] : []), 'NODE_COMPILE_CACHE='],
    Labels: place.labels,
    Healthcheck: { Test: ['NONE'] },
    ...(place.beside === null && { NetworkDisabled: true }),
    HostConfig: {
      ...unlogged({ ...limits, memoryMb }, place),
      ...(isSeparate && { CapAdd: isBuild ? rootCapabilities : separationCapabilities }),
      ...(isBuild && { ReadonlyRootfs: false }),
      Tmpfs: Object.fromEntries(
        spec.scratch.map(({ path, mb, readOnly = false }) => [
          path,
          `${scratch(user, { readOnly })},size=${mb}m`,
        ]),
      ),
      Mounts: mountsOf(spec, place),
    },
  };
}

/**
 * A service container on the loopback of a program. Its image is as untrusted as the program. Many images start as root
 * and switch to another user, so it has the rights for that, and a writable file system.
 */
export const serviceContainer = (
  { image, command, env, limits }: ServiceSpec,
  place: ContainerPlace,
): ContainerCreateOptions => ({
  name: place.name,
  Image: image,
  ...(command && { Cmd: [...command] }),
  Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
  Labels: place.labels,
  Healthcheck: { Test: ['NONE'] },
  HostConfig: {
    ...unlogged(limits, place),
    CapAdd: rootCapabilities,
    ReadonlyRootfs: false,
    Mounts: [hostsFile(place)],
  },
});

/** The engine does not store what programs print, because it is the user’s data. */
const unlogged = ({ memoryMb, cpus }: Limits, place: ContainerPlace): HostConfig => ({
  ...hardened({ memoryMb, cpus: Math.min(cpus, place.cpus) }),
  LogConfig: { Type: 'none', Config: {} },
  NetworkMode: place.beside === null ? 'none' : `container:${place.beside}`,
});

function mountsOf(
  { workspace, folders }: ProgramSpec,
  place: ContainerPlace & { runtime: string },
): MountSettings[] {
  return [
    volume({ Source: place.runtime, Target: '/opt/belay', ReadOnly: true }),
    // Connecting to a socket needs no write access to its folder.
    { Type: 'bind', Source: place.socketFolder, Target: '/run/belay', ReadOnly: true },
    hostsFile(place),
    ...folders.map((one) => hostFolder({ ...one, real: one.folder })),
    ...(workspace
      ? [
          volume({
            Source: volumesOf(workspace.files).workspace,
            Target: '/workspace',
            ReadOnly: workspace.readOnly,
          }),
        ]
      : []),
  ];
}

const hostsFile = ({ socketFolder }: ContainerPlace): MountSettings => ({
  Type: 'bind',
  Source: join(socketFolder, hosts.file),
  Target: '/etc/hosts',
  ReadOnly: true,
});
