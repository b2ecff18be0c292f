import type { ActionService, ProgramStart } from '@belay/protocol';
import type { ContainerCreateOptions } from 'dockerode';
import type { Limits } from '../container-host.js';
import { attachedProgram, unlogged, variables } from './attached-program.js';
import { rootCapabilities, scratch, volume } from './container-spec.js';
import type { ExecutedProgram } from './execution.js';
import {
  connectionMounts,
  starter,
  startVariable,
  type ProgramConnection,
} from './program-container.js';

/** The folder in which an action leaves files, and its size. */
export const outputFolder = '/output';
const outputMb = 64;
/** The memory that the starter program needs in its container. */
const starterMb = 64;

/** The process of one call. */
export interface ActionProcess {
  command: readonly string[];
  secrets: Readonly<Record<string, string>>;
  start: ProgramStart;
}

export interface ActionContainer {
  name: string;
  image: string;
  /** The user that it runs as: the owner of the workspace, if it sees one. */
  user: string;
  /** Null for a container that waits for calls, each of which is a process in it. */
  call: ActionProcess | null;
  /** Null for none; without a volume it is empty, and removed with the container. */
  workspace: { volume: string | null; readOnly: boolean } | null;
  connection: ProgramConnection;
  /** The container whose loopback it shares; null for its own. */
  beside: string | null;
  limits: Limits;
  labels: Record<string, string>;
}

/**
 * The container of a call. Its only network is loopback; of this machine it sees its socket and, if declared, the
 * session’s workspace.
 */
export function actionContainer(what: ActionContainer): ContainerCreateOptions {
  const { limits, workspace, connection, call } = what;
  const owner = Number.parseInt(what.user, 10);
  const halfMb = Math.max(16, Math.floor(limits.memoryMb / 2));
  return {
    name: what.name,
    Image: what.image,
    // A waiting container runs nothing of the action itself, and must outlive its programs, which cannot signal root’s
    // processes.
    User: call ? what.user : '0:0',
    WorkingDir: folderOf(what),
    Entrypoint: starter,
    Cmd: [...(call?.command ?? [])],
    Env: call ? environmentOf(call) : [startVariable('idle')],
    Labels: what.labels,
    ...attachedProgram,
    HostConfig: {
      ...unlogged({ ...limits, memoryMb: limits.memoryMb + starterMb }),
      NetworkMode: what.beside === null ? 'none' : `container:${what.beside}`,
      Tmpfs: {
        '/tmp': `${scratch(owner)},size=${halfMb}m`,
        [outputFolder]: `${scratch(owner)},size=${Math.min(outputMb, halfMb)}m`,
        ...(workspace?.volume === null && {
          '/workspace': `${scratch(owner, workspace)},size=${halfMb}m`,
        }),
      },
      Mounts: [
        ...connectionMounts(connection),
        ...(workspace && workspace.volume !== null
          ? [
              volume({
                Source: workspace.volume,
                Target: '/workspace',
                ReadOnly: workspace.readOnly,
              }),
            ]
          : []),
      ],
    },
  };
}

/** Variables of an action’s program, in addition to those of its image. */
const environmentOf = ({ secrets, start }: ActionProcess): string[] => [
  'HOME=/tmp',
  ...variables(secrets),
  startVariable(start),
];

const folderOf = ({ workspace }: Pick<ActionContainer, 'workspace'>): string =>
  workspace ? '/workspace' : '/action';

/** A call in a waiting container. */
export const actionProcess = (
  what: Pick<ActionContainer, 'user' | 'workspace'>,
  call: ActionProcess,
): ExecutedProgram => ({
  command: [...starter, ...call.command],
  user: what.user,
  folder: folderOf(what),
  env: environmentOf(call),
  takesInput: true,
});

/**
 * A service container of a call, on the same loopback. Its image is as untrusted as the action. Many images start as
 * root and switch to another user, so it has the rights for that, and a writable file system.
 */
export function serviceContainer(what: {
  name: string;
  service: ActionService;
  beside: string | null;
  connection: ProgramConnection;
  limits: Limits;
  labels: Record<string, string>;
}): ContainerCreateOptions {
  const { image, command, environment } = what.service;
  const [, , hosts] = connectionMounts(what.connection);
  return {
    name: what.name,
    Image: image,
    ...(command && { Cmd: command }),
    Env: variables(environment),
    Labels: what.labels,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...unlogged(what.limits),
      CapAdd: rootCapabilities,
      ReadonlyRootfs: false,
      NetworkMode: what.beside === null ? 'none' : `container:${what.beside}`,
      Mounts: hosts ? [hosts] : [],
    },
  };
}
