import { z } from 'zod';
import { namesText, pluralText } from './format.js';

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

/** Chosen by an admin, for sessions that ask for them; a place never labels itself. */
export const placeLabels = z
  .record(
    z
      .string()
      .regex(
        /^[A-Za-z][\w.-]{0,39}$/,
        'a label’s name is up to 40 letters, digits, dots and dashes',
      ),
    z
      .string()
      .regex(
        /^[A-Za-z0-9][\w.-]{0,59}$/,
        'a label’s value is up to 60 letters, digits, dots and dashes',
      ),
  )
  .refine((labels) => Object.keys(labels).length <= 20, 'at most 20 labels');
export type PlaceLabels = z.infer<typeof placeLabels>;

/** The label that every place has from the server: `server` for its own sandboxes, `machine` for a joined machine. */
export const placeLabel = 'place';

/** What a machine’s user allows, which the machine says itself and can only say of itself. */
export const allowedImages = z
  .array(
    z.string().regex(/^[!-~]{1,200}$/, 'the name of an image: up to 200 characters, no spaces'),
  )
  .max(50, 'at most 50 images');

/** What a place has for sandboxes. */
export const placeCapacity = z.object({
  sandboxes: z.int().min(1).max(10_000).describe('The most sandboxes at a time.'),
  memoryMb: z
    .int()
    .positive()
    .nullable()
    .describe('The memory of the whole machine, in MiB; null if it is not known, as of a cluster.'),
  cpus: z.number().positive().max(10_000).nullable().describe('Null if they are not known.'),
  images: allowedImages
    .default([])
    .describe('The images that sessions may name there, with `*` for any characters.'),
});
export type PlaceCapacity = z.infer<typeof placeCapacity>;

/** What became of a session on a machine that is being drained. */
export const machineMove = z.object({
  session: z.string(),
  state: z
    .enum(['moving', 'moved', 'kept'])
    .describe('`moved`: it left the machine; `kept`: it cannot move, and still runs there.'),
  detail: z.string().describe('Where it is now, or why it was kept, in a sentence.'),
});
export type MachineMove = z.infer<typeof machineMove>;

/** A machine that joined this server. */
export const machine = machineDescription.extend({
  id: z.string(),
  name: machineName,
  connected: z.boolean(),
  labels: placeLabels.default({}),
  draining: z.boolean().default(false).describe('Whether it takes no sessions.'),
  capacity: placeCapacity
    .nullable()
    .default(null)
    .describe('Null for a bare machine, and for one that was not connected yet.'),
  running: z.int().nonnegative().default(0).describe('How many sandboxes it has now.'),
  moves: z
    .array(machineMove)
    .default([])
    .describe('The sessions that ran on it when it was drained last.'),
  joined: z.iso.datetime({ offset: true }),
  sessions: z.array(z.string()).describe('The sessions whose agents it runs.'),
});
export type Machine = z.infer<typeof machine>;

/** The machine that was chosen for a session, as it was then; null for a sandbox of the server. */
export const sessionMachine = z.object({
  name: machineName,
  kind: machineKind,
  auto: z
    .literal(true)
    .optional()
    .describe('The server chose it, and chooses anew while the session has no files there.'),
});
export type SessionMachine = z.infer<typeof sessionMachine>;

/** The confinement of a machine’s agents, as lists show it. */
export const confinementOf = ({ kind, host }: Pick<Machine, 'kind' | 'host'>): string =>
  kind === 'bare' ? 'bare: nothing is confined' : `container on ${host}`;

/** The load of the server’s own sandboxes. */
export const ownSandboxes = z.object({
  running: machine.shape.running,
  capacity: placeCapacity,
  agents: z
    .array(z.string())
    .describe('The agents of other vendors that sessions can have there, by their names.'),
  sessions: z.array(z.string()).describe('The sessions that they belong to.'),
  tasks: z.boolean().default(false).describe('Whether evaluations can run their tasks there.'),
});
export type OwnSandboxes = z.infer<typeof ownSandboxes>;

/** How many sandboxes a place has, of how many; a bare machine has sessions alone. */
export const loadText = (running: number, capacity: PlaceCapacity | null): string =>
  capacity === null
    ? pluralText(running, 'session')
    : `${running} of ${pluralText(capacity.sandboxes, 'sandbox', 'sandboxes')}`;

/** The agents and the images that sessions can have at a place, if there are any to tell: each is a part of a list. */
export const installedTexts = ({
  agents = [],
  capacity,
}: {
  agents?: readonly string[];
  capacity: PlaceCapacity | null;
}): string[] => {
  const images = capacity?.images.filter((image) => image !== '*') ?? [];
  return [
    ...(agents.length > 0 ? [`agents: ${namesText(agents)}`] : []),
    ...(images.length > 0 ? [`images: ${namesText(images)}`] : []),
  ];
};

/** An id that an engine gave, or one of an image, with its algorithm. */
export const engineId = z.string().regex(/^(?:[a-z0-9]{1,20}:)?[0-9a-f]{12,128}$/);
