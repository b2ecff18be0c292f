import { useEffect } from 'react';
import { create } from 'zustand';

/** The user’s unsaved changes to a file. */
interface Unsaved {
  text: string;
  /** The text of the file that the changes are based on. */
  base: string;
  /** The version of the file with the text `base`; saving does not replace other versions. */
  version: string | null;
  /** The two sides, if this text is the result of a merge. */
  merged?: { mine: string; theirs: string };
}

interface UnsavedFiles {
  files: ReadonlyMap<string, Unsaved>;
  /** Null when there is nothing left to save. */
  set(key: string, unsaved: Unsaved | null): void;
}

/** Kept outside of the editor, as the user may switch to another file, panel or page. */
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

/** Makes the browser ask before the tab is closed with unsaved changes. */
export function useAskBeforeLeaving(): void {
  const any = useUnsaved(({ files }) => files.size > 0);
  useEffect(() => {
    if (!any) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [any]);
}
