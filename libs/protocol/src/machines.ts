import { z } from 'zod';

/** `bare`: agents are programs of the user who joined it, and nothing is confined; `container`: each is in one. */
export const machineKind = z.enum(['bare', 'container']);
export type MachineKind = z.infer<typeof machineKind>;

export const machineName = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,39}$/,
    'a machine’s name is up to 40 letters, digits, dots, dashes and underscores',
  );

/** What a machine says of itself. Shown and never believed: it decides nothing. */
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

/** The machine that a session was directed to, as it was then; null for a sandbox of the server. */
export const sessionMachine = z.object({ name: machineName, kind: machineKind });
export type SessionMachine = z.infer<typeof sessionMachine>;

/** What a machine is, in the words of every list. */
export const confinementOf = ({ kind, host }: Pick<Machine, 'kind' | 'host'>): string =>
  kind === 'bare' ? 'bare: nothing is confined' : `container on ${host}`;
