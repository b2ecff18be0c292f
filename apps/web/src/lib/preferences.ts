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
  set(change: Partial<Omit<Preferences, 'set'>>): void;
}

/** What a person chose on this machine. */
export const usePreferences = create<Preferences>()(
  persist(
    (set) => ({
      theme: 'system',
      keys: {},
      notifications: false,
      follow: true,
      reasoning: false,
      terminalSize: 13,
      set: (change) => set(change),
    }),
    { name: 'belay.preferences' },
  ),
);
