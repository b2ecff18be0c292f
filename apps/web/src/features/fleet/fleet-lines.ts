import { needsUser, type SessionSummary } from '@belay/protocol';
import type { FleetGroup } from './fleet-order';

/** The sessions of one comparison, shown as one row. */
export interface FoldedComparison {
  comparison: string;
  /** Oldest first. */
  sessions: readonly SessionSummary[];
  open: boolean;
}

type FleetLine =
  | { title: string; count: number }
  | { session: SessionSummary; within: boolean }
  | FoldedComparison;

/**
 * The lines of the list. A comparison is one line, at the position of its first session in
 * `groups`; its sessions follow when it is expanded. Sessions that wait for the user are always
 * shown.
 */
export function fleetLines(
  groups: readonly FleetGroup[],
  unfolded: ReadonlySet<string>,
): FleetLine[] {
  const members = Map.groupBy(
    groups.flatMap(({ sessions }) => sessions).toReversed(),
    ({ comparison }) => comparison,
  );
  const placed = new Set<string>();
  return groups.flatMap(({ title, sessions }) => {
    const lines = sessions.flatMap((session): FleetLine[] => {
      const { comparison } = session;
      const others = comparison === null ? undefined : members.get(comparison);
      // A comparison with only one session shown is an ordinary row.
      if (comparison === null || !others || others.length < 2) return [{ session, within: false }];
      if (placed.has(comparison)) return [];
      placed.add(comparison);
      const open = unfolded.has(comparison);
      const all = others.toSorted((a, b) => a.id.localeCompare(b.id));
      return [
        { comparison, sessions: all, open },
        ...all
          .filter((each) => open || needsUser(each))
          .map((each) => ({ session: each, within: true })),
      ];
    });
    if (lines.length === 0) return [];
    const rows = lines.filter((line) => !('session' in line && line.within)).length;
    return [...(title === null ? [] : [{ title, count: rows }]), ...lines];
  });
}

export const keyOfLine = (line: FleetLine): string =>
  'session' in line
    ? line.session.id
    : 'comparison' in line
      ? `comparison ${line.comparison}`
      : line.title;
