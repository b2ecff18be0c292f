import { join } from 'node:path';
import type { ProgramStart } from '@belay/protocol';
import type { ContainerCreateOptions, MountSettings } from 'dockerode';
import type { Limits } from '../container-host.js';
import { attachedProgram, unlogged, variables } from './attached-program.js';
import { hostFolder, hosts, scratch, volume } from './container-spec.js';

const user = 1000;

/** The program’s connection to the server, and the program that uses it. */
export interface ProgramConnection {
  socketFolder: string;
  /** The read-only volume with the program that starts the contained one. */
  runtime: string;
}

/** Starts a program with its connection to the server: see `apps/agent/src/contained`. */
export const starter = ['/opt/belay/node', '/opt/belay/contained.cjs'];
export const startVariable = (start: ProgramStart | 'idle'): string =>
  `BELAY_PROGRAM=${JSON.stringify(start)}`;

export function connectionMounts({ socketFolder, runtime }: ProgramConnection): MountSettings[] {
  return [
    volume({ Source: runtime, Target: '/opt/belay', ReadOnly: true }),
    // Connecting to a socket needs no write access to its folder.
    { Type: 'bind', Source: socketFolder, Target: '/run/belay', ReadOnly: true },
    { Type: 'bind', Source: join(socketFolder, hosts.file), Target: '/etc/hosts', ReadOnly: true },
  ];
}

/**
 * A container without a network. It sees at most one folder of this machine, and of this server either nothing or a
 * socket for connections to its configured hosts.
 */
export function programContainer(what: {
  name: string;
  image: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The path that the user wrote, and the path without links. */
  folder: { path: string; real: string } | null;
  /** The working directory without a folder of this machine. */
  workingDir: string;
  /** Null for no network access. */
  connection: ProgramConnection | null;
  limits: Limits;
  labels: Record<string, string>;
}): ContainerCreateOptions {
  const { folder, limits, connection } = what;
  // Without these, a downloading program would retry for minutes.
  const offline = { npm_config_offline: 'true', UV_OFFLINE: '1', PIP_NO_INDEX: '1' };
  const env = { HOME: '/tmp', ...(!connection && offline), ...what.env };
  const start = startVariable({ egress: true, services: {}, output: null });
  return {
    name: what.name,
    Image: what.image,
    User: `${user}:${user}`,
    WorkingDir: folder?.path ?? what.workingDir,
    Entrypoint: connection ? starter : [what.command],
    Cmd: connection ? [what.command, ...what.args] : [...what.args],
    Env: [...variables(env), ...(connection ? [start] : [])],
    Labels: what.labels,
    ...attachedProgram,
    HostConfig: {
      ...unlogged(limits),
      NetworkMode: 'none',
      Tmpfs: { '/tmp': `${scratch(user)},size=${Math.max(64, Math.floor(limits.memoryMb / 2))}m` },
      Mounts: [
        ...(folder ? [hostFolder({ ...folder, readOnly: true })] : []),
        ...(connection ? connectionMounts(connection) : []),
      ],
    },
  };
}
