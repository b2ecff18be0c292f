import type { TaskEngine, TaskHost, TaskNeed } from '@belay/containers';
import { AppError, errorFrom } from '@belay/protocol';
import type { PlaceResources } from './resource-semaphore.js';

/** Where trials can run: this machine’s engine, a machine that joined a server, or that server’s cluster. */
export interface TrialPlace {
  /** For people. */
  name: string;
  host: TaskHost;
  /** Aborted when it is away for good. */
  away: AbortSignal;
}

/** A place with what it has for trials, and what none of them gets there. */
export interface UsablePlace extends PlaceResources<TrialPlace> {
  lacks: readonly TaskNeed[];
}

/** Opens the machines with these names, or all if undefined, that could run trials; their opener closes them. */
export type OpenPlaces = (names: readonly string[] | undefined) => Promise<TrialPlace[]>;

/** The engine of this machine among the places, in options and in results. */
export const thisMachine = 'this-machine';
/** The cluster of a server among the places. */
export const thisServer = 'this-server';
/** Stands for all places that there are. */
export const allPlaces = 'all';

export const ownPlace = (engine: TaskEngine): TrialPlace => ({
  name: thisMachine,
  host: engine,
  away: new AbortController().signal,
});

/** This machine first. `names` are those of machines, `thisMachine` and `allPlaces`. */
export async function placesFor(
  names: readonly string[],
  engine: TaskEngine,
  openPlaces: OpenPlaces = async () => [],
): Promise<TrialPlace[]> {
  const isAll = names.includes(allPlaces);
  const own = isAll || names.includes(thisMachine) ? [ownPlace(engine)] : [];
  const machines = names.filter((name) => name !== thisMachine);
  if (!isAll && machines.length === 0) return own;
  return [...own, ...(await openPlaces(isAll ? undefined : machines))];
}

/**
 * The places with what they have for trials. Those that run no trials are left out, with their reason. Throws
 * `unavailable` when none is left.
 */
export async function usablePlaces(
  places: readonly TrialPlace[],
  onNotice: (sentence: string) => void,
): Promise<UsablePlace[]> {
  const asked = await Promise.allSettled(
    places.map(async (place) => ({ place, ...(await place.host.capacity()) })),
  );
  const usable = asked.flatMap((one) => {
    if (one.status === 'fulfilled') return one.value;
    onNotice(`A place runs no trials: ${errorFrom(one.reason).message}`);
    return [];
  });
  if (usable.length > 0) return usable;
  const [first] = asked;
  if (first?.status === 'rejected') throw first.reason;
  throw new AppError('unavailable', 'There is no place for trials.');
}
