import { forgeEvent, laneKeyOf, type AutomationDefinition, type Occurrence } from '@belay/protocol';

/** What a run is about, in a few characters: the issue or pull request, or else the branch or the event. */
export const runSubjectOf = ({ number, branch, event }: Occurrence): string =>
  number === undefined ? (branch ?? event) : `#${number}`;

/** Hosts do not distinguish case in names of repositories. */
export const isSameRepository = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();

/** Values by field, for filters and lane keys. Those of a JSON object that was sent have any form. */
export type KnownValues = Readonly<Record<string, unknown>>;

/** The values that an occurrence itself has; the git host says more. */
export function valuesOf(occurrence: Occurrence): KnownValues {
  const { number, label, assignee, command, verdict, branch, sha, tag, session } = occurrence;
  const user = occurrence.actor?.name;
  const known = { number, label, assignee, command, verdict, branch, sha, tag, session, user };
  const given = Object.entries(known).filter(([, value]) => value !== undefined);
  return { ...valuesOfPayload(occurrence.payload), ...Object.fromEntries(given) };
}

/** The lane of a run, with whatever is known of it. */
export const laneOf = (
  { lane }: Pick<AutomationDefinition, 'lane'>,
  occurrence: Occurrence,
  known: KnownValues = {},
): string =>
  laneKeyOf(lane.key, {
    ...valuesOf(occurrence),
    ...known,
    subject: runSubjectOf(occurrence),
  });

/** It was checked to be an object when it came. */
function valuesOfPayload(payload: string | undefined): KnownValues {
  if (payload === undefined) return {};
  try {
    const read: unknown = JSON.parse(payload);
    return typeof read === 'object' && read !== null ? { ...read } : {};
  } catch {
    return {};
  }
}

/** Whether it happened at a git host; all others begin again and again without a subject of their own. */
export const isForgeEvent = ({ event }: Pick<Occurrence, 'event'>): boolean =>
  forgeEvent.options.some((each) => each === event);
