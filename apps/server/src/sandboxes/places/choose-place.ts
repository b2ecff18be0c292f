import {
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
}

/** What decides where a session can run. */
export type Needs = Pick<SessionSettings, 'labels' | 'mounts' | 'agent' | 'actions' | 'image'>;

/**
 * The least loaded place that fits, the first of those with the same load; one that is away only when no other one fits,
 * so that its start says why. Undefined while all that fit are full. Throws `conflict` with the reason for each place
 * when none fits.
 */
export function choosePlace(
  places: readonly SandboxPlace[],
  needs: Needs,
): SandboxPlace | undefined {
  // Others are nothing to users who may not use them.
  const open = places.filter(({ machine }) => machine === null || isOpenToAll(machine));
  const judged = open.map((place) => ({ place, reason: unfit(place, needs) }));
  const fits = judged.flatMap(({ place, reason }) => (reason === null ? place : []));
  if (fits.length === 0) {
    const reasons = judged.map(({ place, reason }) => `${place.name} ${reason}`).join('; ');
    throw new AppError(
      'conflict',
      `No place fits this session: ${reasons}. Ask for other labels, or add a machine: belay machines add NAME`,
    );
  }
  const there = fits.filter(({ isAway }) => !isAway);
  let best: SandboxPlace | undefined;
  for (const place of there.length > 0 ? there : fits)
    if (hasCapacity(place) && (best === undefined || loadOf(place) < loadOf(best))) best = place;
  return best;
}

export const hasCapacity = ({ running, limit }: SandboxPlace): boolean => running < limit;

const loadOf = ({ running, limit }: SandboxPlace): number => running / limit;

/** Follows the place’s name in a sentence; null for one that fits. */
function unfit({ labels, closed, machine }: SandboxPlace, needs: Needs): string | null {
  if (closed !== null) return closed;
  const missing = Object.entries(needs.labels).filter(([name, value]) => labels[name] !== value);
  if (missing.length > 0)
    return `does not have ${missing.map(([name, value]) => `${name}=${value}`).join(', ')}`;
  return machine === null ? null : serverOnly(needs);
}

/** What a session has that is only known to work in sandboxes of the server. */
function serverOnly({ labels, mounts, agent, actions, image }: Needs): string | null {
  if (mounts.length > 0) return 'does not have the folders of the server';
  if (agent) return `does not have the agent ${agent.name}`;
  if (actions.some(({ permissions }) => permissions.workspace !== 'none'))
    return 'runs no actions that use the workspace';
  // An image may be on the server alone; who asks for labels knows where it is.
  if (image !== null && Object.keys(labels).length === 0)
    return `may not have the image ${image}: name the machine or a label to use it there`;
  return null;
}
