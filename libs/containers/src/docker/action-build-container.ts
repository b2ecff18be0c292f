import type { ContainerCreateOptions } from 'dockerode';
import type { Limits } from '../container-host.js';
import { hardened, rootCapabilities } from './container-spec.js';
import {
  connectionMounts,
  starter,
  startVariable,
  type ProgramConnection,
} from './program-container.js';

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
