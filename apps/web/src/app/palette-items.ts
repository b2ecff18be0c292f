import type { SessionSummary } from '@belay/protocol';
import type { PaletteCommand } from '@/lib/commands';
import { matching } from '@/lib/matching';
import { titleRank } from '@/lib/title-rank';

export type PaletteItem =
  | { kind: 'command'; command: PaletteCommand }
  | { kind: 'session'; session: SessionSummary }
  | { kind: 'file'; path: string };

interface Searched {
  commands: readonly PaletteCommand[];
  sessions: readonly SessionSummary[];
  paths: readonly string[];
}

const maxItems = 100;
const maxFiles = 12;
/** A path that only has the typed letters in order. */
const looseRank = 3;

/**
 * Everything that matches what is typed, in one order: the better match first, whatever it is.
 * Commands match only by their words, so that no key runs one that the user did not name.
 */
export function paletteItems(
  typed: string,
  { commands, sessions, paths }: Searched,
): PaletteItem[] {
  const ranked: { item: PaletteItem; rank: number | undefined }[] = [
    ...commands.map((command) => ({
      item: { kind: 'command' as const, command },
      rank: titleRank(command.title, typed),
    })),
    ...sessions.map((session) => ({
      item: { kind: 'session' as const, session },
      rank: session.id === typed.trim() ? 0 : titleRank(session.title, typed),
    })),
    // One letter is in almost every path.
    ...(typed.trim().length > 1 ? matching(paths, typed.trim(), maxFiles) : []).map((path) => ({
      item: { kind: 'file' as const, path },
      rank: titleRank(path, typed) ?? looseRank,
    })),
  ];
  return ranked
    .filter(({ rank }) => rank !== undefined)
    .toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .slice(0, maxItems)
    .map(({ item }) => item);
}
