import {
  allowsImage,
  AppError,
  type PlaceLabels,
  type SessionMachine,
  type SessionSettings,
} from '@belay/protocol';
import { isOpenToAll } from '../machines/assert-may-use-machine.js';

/** Where sandboxes run: in the server’s own containers, or on a joined machine. */
export interface SandboxPlace {
  /** The machine’s id; null for the server. */
  id: string | null;
  name: string;
  machine: SessionMachine | null;
  labels: PlaceLabels;
  /** Why it takes no session that does not name it; null when it does. */
  closed: string | null;
  draining: boolean;
  /** Whether its engine did not respond when it was asked last; for a machine, see `closed`. */
  isAway: boolean;
  /** The most sandboxes. */
  limit: number;
  /** Sandboxes of sessions that work. */
  running: number;
  /** The agents of other vendors that are installed there; null where they cannot be. */
  agents: readonly string[] | null;
  /** The images that sessions may name there, with `*` for any characters. */
  images: readonly string[];
}

/** What decides where a session can run. */
export type Needs = Pick<SessionSettings, 'labels' | 'mounts' | 'agent' | 'actions' | 'image'>;

/**
 * The places that fit and are not full, the least loaded first, and of those with the same load in the given order; those
 * that are away only when no other one fits, so that a start there says why. Throws `conflict` with the reason for each
 * place when none fits.
 */
export function freePlaces(places: readonly SandboxPlace[], needs: Needs): SandboxPlace[] {
  // Others are nothing to users who may not use them.
  const open = places.filter(({ machine }) => machine === null || isOpenToAll(machine));
  const judged = open.map((place) => ({ place, reason: unfit(place, needs) }));
  const fits = judged.flatMap(({ place, reason }) => (reason === null ? place : []));
  if (fits.length === 0) {
    const reasons = judged.map(({ place, reason }) => `${place.name} ${reason}`).join('; ');
    throw new AppError(
      'conflict',
      `No place fits this session: ${reasons}. ${remedyFor(open, needs)}`,
    );
  }
  const there = fits.filter(({ isAway }) => !isAway);
  return (there.length > 0 ? there : fits)
    .filter(hasCapacity)
    .toSorted((a, b) => loadOf(a) - loadOf(b));
}

export const hasCapacity = ({ running, limit }: SandboxPlace): boolean => running < limit;

const loadOf = ({ running, limit }: SandboxPlace): number => running / limit;

/** Follows the place’s name in a sentence; null for one that fits. */
function unfit(place: SandboxPlace, needs: Needs): string | null {
  const { labels, closed, machine, agents } = place;
  const { agent, image } = needs;
  if (closed !== null) return closed;
  const missing = Object.entries(needs.labels).filter(([name, value]) => labels[name] !== value);
  if (missing.length > 0)
    return `does not have ${missing.map(([name, value]) => `${name}=${value}`).join(', ')}`;
  if (agent && !agents) return 'runs no agents of other vendors';
  if (agent && !agents?.includes(agent.name)) return `does not have the agent ${agent.name}`;
  if (image !== null && !allowsImage(place.images, image))
    return `does not allow the image ${image} (belay join --allow-image)`;
  return machine === null ? null : serverOnly(needs);
}

/** What a session has that is only known to work in sandboxes of the server. */
function serverOnly({ mounts, actions }: Needs): string | null {
  if (mounts.length > 0) return 'does not have the folders of the server';
  if (actions.some(({ permissions }) => permissions.workspace !== 'none'))
    return 'runs no actions that use the workspace';
  return null;
}

function remedyFor(places: readonly SandboxPlace[], { agent }: Needs): string {
  if (!agent) return 'Ask for other labels, or add a machine: belay machines add NAME';
  const { name } = agent;
  const [has] = places.filter(({ agents }) => agents?.includes(name));
  return has
    ? `The agent ${name} is installed on ${has.name}: ask for labels that it has.`
    : `Install the agent on this server: belay agents install ${name}`;
}
