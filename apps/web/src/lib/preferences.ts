import { create } from 'zustand';
import { persist } from 'zustand/middleware';

export type Theme = 'system' | 'light' | 'dark';

interface Preferences {
  theme: Theme;
  /** Shortcuts that differ from the default, by command; empty text is none. */
  keys: Record<string, string>;
  notifications: boolean;
  /** Whether the code panel goes where the agent edits. */
  follow: boolean;
  reasoning: boolean;
  terminalSize: number;
  /** Whether changes are shown beside what was there. */
  splitDiff: boolean;
  /** Whether the tree of changed files is beside their lines. */
  changesTree: boolean;
  /** Whether the rail of sessions shows their titles. */
  rail: boolean;
  /** Whether the fleet is shown as a board. */
  board: boolean;
  set(change: Partial<Omit<Preferences, 'set'>>): void;
}

/** What the user chose on this machine. */
export const usePreferences = create<Preferences>()(
  persist(
    (set) => ({
      theme: 'system',
      keys: {},
      notifications: false,
      follow: true,
      reasoning: false,
      terminalSize: 13,
      splitDiff: false,
      changesTree: true,
      rail: false,
      board: false,
      set: (change) => set(change),
    }),
    { name: 'belay.preferences' },
  ),
);
