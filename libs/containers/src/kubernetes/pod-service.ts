import type { ServiceSpec } from '../container-host.js';
import { rootCapabilities } from '../docker/container-spec.js';
import type { PodImage } from './pod-images.js';
import {
  asRoot,
  podRights,
  resourcesOf,
  runtimeMount,
  variable,
  type PodService,
} from './pod-parts.js';
import { unpackingCommand } from './unpacking-command.js';

/**
 * A service on the loopback of a program. Its image is as untrusted as the program. Many images start as root and switch
 * to another user, so it has the rights for that, and a writable file system.
 */
export const podService = (
  { name: called, base, layers, command, env, limits }: ServiceSpec & PodImage,
  index: number,
  writtenMb: number,
): PodService => ({
  name: called,
  container: {
    name: `service-${index}`,
    image: base,
    imagePullPolicy: 'IfNotPresent',
    ...(layers
      ? {
          command: unpackingCommand(
            layers,
            [...layers.entrypoint, ...(command ?? [])],
            layers.user,
          ),
          volumeMounts: [runtimeMount],
        }
      : command && { args: [...command] }),
    env: Object.entries(env).map(([name, value]) => variable(name, value)),
    securityContext: layers ? asRoot(rootCapabilities, false) : podRights(rootCapabilities, false),
    resources: resourcesOf(limits, writtenMb + (layers?.mb ?? 0)),
  },
});
