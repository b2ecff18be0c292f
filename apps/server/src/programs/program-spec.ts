import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { hosts, type Limits, scratch, volume } from '@belay/docker';
import type { ProgramStart } from '@belay/protocol';
import type { ContainerCreateOptions, MountSettings } from 'dockerode';
import { attachedProgram, unlogged, variables } from './attached-program.js';

/** The label’s value of programs of this process. Those of a former one are of use to nobody. */
export const ownPrograms = randomUUID();

const user = 1000;

/** What is mounted below a folder would not be read-only. */
const alone = { Propagation: 'rprivate' as const, NonRecursive: true };

/** A folder of this machine, without what is mounted below it. */
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

/** Where its way to the server is, and what uses it there. */
export interface ProgramConnection {
  socketFolder: string;
  /** The read-only volume with the program that starts the contained one. */
  runtime: string;
}

/** Starts a program with its way to the server: see `apps/agent/src/contained`. */
export const starter = ['/opt/belay/node', '/opt/belay/contained.cjs'];
export const startVariable = (start: ProgramStart | 'idle'): string =>
  `BELAY_PROGRAM=${JSON.stringify(start)}`;

export function connectionMounts({ socketFolder, runtime }: ProgramConnection): MountSettings[] {
  return [
    volume({ Source: runtime, Target: '/opt/belay', ReadOnly: true }),
    // Connecting to a socket takes no right to write to its folder.
    { Type: 'bind', Source: socketFolder, Target: '/run/belay', ReadOnly: true },
    { Type: 'bind', Source: join(socketFolder, hosts.file), Target: '/etc/hosts', ReadOnly: true },
  ];
}

/**
 * A container without a network, which sees of this machine one folder at most, and of this server nothing, or its way
 * to the hosts that were chosen for it.
 */
export function programContainer(what: {
  name: string;
  image: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** As the user wrote it, and as it is without links. */
  folder: { path: string; real: string } | null;
  /** Where it works when it has no folder of this machine. */
  workingDir: string;
  /** Null is no way out. */
  connection: ProgramConnection | null;
  limits: Limits;
  labels: Record<string, string>;
}): ContainerCreateOptions {
  const { folder, limits, connection } = what;
  // Without these a program that downloads would try for minutes.
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
