import type { Followed } from '@belay/testkit';

/** The numbers of a session’s events. */
export const eventNumbers = (session: Followed): number[] => session.events.map(({ seq }) => seq);

/** What the numbers are if no event is lost or repeated. */
export const gaplessNumbers = (session: Followed): number[] =>
  session.events.map((_, at) => at + 1);
