import { hardened, type Limits } from '@belay/docker';
import type { ContainerCreateOptions, HostConfig } from 'dockerode';

/** What holds of every container whose input and output are this server’s, and not of those that run by themselves. */
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

/** A hardened container of which the engine keeps no output, for what is printed is the user’s data. */
export const unlogged = (limits: Limits): HostConfig => ({
  ...hardened(limits),
  LogConfig: { Type: 'none', Config: {} },
});

/** Variables as the engine takes them. */
export const variables = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).map(([name, value]) => `${name}=${value}`);
