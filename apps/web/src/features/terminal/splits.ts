import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** Side by side, or above each other. */
export type SplitOrientation = 'horizontal' | 'vertical';

/** Two terminals at once: the second one, and where it is. */
interface TerminalSplit {
  second: string;
  orientation: SplitOrientation;
}

/** Sessions whose split is remembered. */
const mostSessions = 50;

interface Splits {
  sessions: Readonly<Record<string, TerminalSplit>>;
  set(session: string, split: TerminalSplit | null): void;
}

/** The sessions that show two terminals, remembered on this machine. */
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
