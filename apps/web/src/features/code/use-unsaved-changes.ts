import { useEffect, useState } from 'react';
import { useIsPast, useSessionId } from '@/features/session-log/session-context';
import { toast } from '@/lib/toasts';
import type { Editor } from './editor';
import type { TextFile } from './file-content';
import { conflictsIn, mergeTexts } from './merge';
import { unsavedKey, useAskBeforeLeaving, useUnsaved } from './unsaved';
import type { UnsavedBarProps } from './unsaved-bar';
import { useSave } from './use-save';

/** The user’s unsaved changes to a file; saves them, or merges them with others’ changes. */
export function useUnsavedChanges(path: string, file: TextFile | null, editor: Editor | null) {
  const past = useIsPast();
  const key = unsavedKey(useSessionId(), path);
  const unsaved = useUnsaved(({ files }) => files.get(key));
  const set = useUnsaved((state) => state.set);
  const { save, saving } = useSave(path, editor);
  const [comparing, setComparing] = useState(false);
  const changed = unsaved !== undefined && file !== null && !past;
  const conflict = changed && !saving && file.text !== unsaved.base;
  useEffect(() => editor?.onSave(conflict ? askToDecide : save));
  useAskBeforeLeaving();
  const text = unsaved?.text ?? file?.text ?? '';
  if (!changed) return { text, conflict, compared: null, bar: null };

  const { text: mine, merged } = unsaved;
  const { text: theirs, version } = file;
  const sides = conflict ? { mine, theirs } : (merged ?? null);
  const compared = comparing ? sides : null;
  const bar: UnsavedBarProps = {
    conflict,
    compared: compared !== null,
    undecided: merged && !conflict ? conflictsIn(mine) : null,
    onMerge: () => {
      const result = mergeTexts(unsaved.base, mine, theirs).text;
      set(key, { text: result, base: theirs, version, merged: { mine, theirs } });
      editor?.show(path, theirs, result);
      editor?.focus();
      setComparing(true);
    },
    onCompare: () => setComparing(!comparing),
    onSave: save,
    onDiscard: () => {
      set(key, null);
      editor?.show(path, theirs);
    },
    onKeep: () => set(key, { text: mine, base: theirs, version }),
  };
  return { text, conflict, compared, bar };
}

const askToDecide = () =>
  toast('This file changed while you edited it: merge both, take theirs or keep yours, then save.');
