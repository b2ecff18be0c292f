import { z } from 'zod';

/** `bare`: agents run as the user who joined the machine, without confinement; `container`: each runs in a container. */
export const machineKind = z.enum(['bare', 'container']);
export type MachineKind = z.infer<typeof machineKind>;

export const machineName = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,39}$/,
    'a machine’s name is up to 40 letters, digits, dots, dashes and underscores',
  );

/** The name of a container, of files or of a folder on a joined machine: no path, and no pattern of an engine. */
export const nameOnMachine = z.string().regex(/^[A-Za-z0-9][\w-]{0,99}$/);

/**
 * A machine’s description of itself: only shown, but for the kind, with which its user chooses who may start sessions on
 * it: an admin, or everyone who may start sessions.
 */
export const machineDescription = z.object({
  host: z.string().min(1).max(255),
  os: z.string().min(1).max(100),
  arch: z.string().min(1).max(20),
  kind: machineKind,
});
export type MachineDescription = z.infer<typeof machineDescription>;

/** A machine that joined this server. */
export const machine = machineDescription.extend({
  id: z.string(),
  name: machineName,
  connected: z.boolean(),
  joined: z.iso.datetime({ offset: true }),
  sessions: z.array(z.string()).describe('The sessions whose agents it runs.'),
});
export type Machine = z.infer<typeof machine>;

/** The machine that was chosen for a session, as it was then; null for a sandbox of the server. */
export const sessionMachine = z.object({ name: machineName, kind: machineKind });
export type SessionMachine = z.infer<typeof sessionMachine>;

/** The confinement of a machine’s agents, as lists show it. */
export const confinementOf = ({ kind, host }: Pick<Machine, 'kind' | 'host'>): string =>
  kind === 'bare' ? 'bare: nothing is confined' : `container on ${host}`;
