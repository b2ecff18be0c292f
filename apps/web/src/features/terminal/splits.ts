import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** Side by side, or stacked. */
export type SplitOrientation = 'horizontal' | 'vertical';

/** A split between two terminals: the second one, and how they are arranged. */
interface TerminalSplit {
  second: string;
  orientation: SplitOrientation;
}

/** The number of sessions whose split is remembered. */
const mostSessions = 50;

interface Splits {
  sessions: Readonly<Record<string, TerminalSplit>>;
  set(session: string, split: TerminalSplit | null): void;
}

/** The splits of sessions that show two terminals, kept in this browser. */
export const useSplits = create<Splits>()(
  persist(
    (set) => ({
      sessions: {},
      set: (session, split) =>
        set(({ sessions }) => {
          const others = Object.entries(sessions).filter(([id]) => id !== session);
          const kept = Object.fromEntries(others.slice(1 - mostSessions));
          return { sessions: split ? { ...kept, [session]: split } : kept };
        }),
    }),
    { name: 'belay.terminal-splits' },
  ),
);
