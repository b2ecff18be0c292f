import type { ContainerCreateOptions, HostConfig } from 'dockerode';
import type { Limits } from '../container-host.js';
import { hardened } from './container-spec.js';

/**
 * Options of containers whose input and output are connected to this server, in contrast to those that run by
 * themselves.
 */
export const attachedProgram = {
  Healthcheck: { Test: ['NONE'] },
  Tty: false,
  OpenStdin: true,
  // When the server is killed, the program’s input ends.
  StdinOnce: true,
  AttachStdin: true,
  AttachStdout: true,
  AttachStderr: true,
} satisfies ContainerCreateOptions;

/** A hardened container whose output the engine does not store, because it is the user’s data. */
export const unlogged = (limits: Limits): HostConfig => ({
  ...hardened(limits),
  LogConfig: { Type: 'none', Config: {} },
});

/** Variables in the engine’s format. */
export const variables = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).map(([name, value]) => `${name}=${value}`);
