import { create } from 'zustand';
import { persist } from 'zustand/middleware';

export type Theme = 'system' | 'light' | 'dark';

interface Preferences {
  theme: Theme;
  /** Shortcuts that differ from the default, by command id; empty for none. */
  keys: Record<string, string>;
  notifications: boolean;
  /** Whether the code panel follows the agent’s edits. */
  follow: boolean;
  reasoning: boolean;
  terminalSize: number;
  /** Whether diffs are shown side by side. */
  splitDiff: boolean;
  /** Whether the tree of changed files is shown beside the diffs. */
  changesTree: boolean;
  /** Whether the session rail shows titles. */
  rail: boolean;
  /** Whether the fleet is shown as a board. */
  board: boolean;
  /** The keys of the automations’ notices that the user has seen. */
  seenNotices: readonly string[];
  set(change: Partial<Omit<Preferences, 'set'>>): void;
}

/** The user’s preferences in this browser. */
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
      seenNotices: [],
      set: (change) => set(change),
    }),
    { name: 'belay.preferences' },
  ),
);
