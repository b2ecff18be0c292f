import { useEffect } from 'react';
import { create } from 'zustand';

/** What the user typed into a file and did not save yet. */
interface Unsaved {
  text: string;
  /** The text of the file when the user began. */
  base: string;
  /** The version of the file that had this text; saving replaces no other version. */
  version: string | null;
  /** The two sides of a merge that this text is the result of. */
  merged?: { mine: string; theirs: string };
}

interface UnsavedFiles {
  files: ReadonlyMap<string, Unsaved>;
  /** Null when there is nothing to save any more. */
  set(key: string, unsaved: Unsaved | null): void;
}

/** Outlives the editor: another file, panel or page may be looked at meanwhile. */
export const useUnsaved = create<UnsavedFiles>()((set, get) => ({
  files: new Map(),
  set: (key, unsaved) => {
    if (!unsaved && !get().files.has(key)) return;
    const files = new Map(get().files);
    if (unsaved) files.set(key, unsaved);
    else files.delete(key);
    set({ files });
  },
}));

export const unsavedKey = (session: string, path: string): string => `${session}/${path}`;

/** The browser asks before the tab is closed with something unsaved. */
export function useAskBeforeLeaving(): void {
  const any = useUnsaved(({ files }) => files.size > 0);
  useEffect(() => {
    if (!any) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [any]);
}
