import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { fileConflictOf } from '@belay/protocol';
import { ensureSandbox } from '@/features/session-controls/use-can-act';
import { useSessionId } from '@/features/session-log/session-context';
import { client } from '@/lib/server';
import { askConfirm } from '@/lib/ask';
import { attempt, toast } from '@/lib/toasts';
import type { Editor } from './editor';
import { conflictsIn } from './merge';
import { unsavedKey, useUnsaved } from './unsaved';

/**
 * Saves the editor’s text to the sandbox, replacing only the version that it is based on. While
 * `saving`, changes to the file are the user’s own.
 */
export function useSave(path: string, editor: Editor | null): { save(): void; saving: boolean } {
  const [saving, setSaving] = useState(false);
  const session = useSessionId();
  const cache = useQueryClient();
  const key = unsavedKey(session, path);
  const refetch = () => cache.refetchQueries({ queryKey: ['file', session, path], type: 'active' });
  const save = async (text: string, over: string | null) => {
    await ensureSandbox(session);
    const { version } = await client.sessions
      .call(session, 'files.write', {
        path,
        content: text,
        ...(over !== null && { version: over }),
      })
      .catch(async (error: unknown) => {
        // Loads the current file, so that the user can resolve the conflict.
        if (fileConflictOf(error)) await refetch();
        throw error;
      });
    await refetch();
    const now = useUnsaved.getState().files.get(key)?.text ?? text;
    useUnsaved.getState().set(key, now === text ? null : { text: now, base: text, version });
    toast(`Saved ${path}.`);
  };
  return {
    saving,
    save: () => {
      const text = editor?.text();
      const unsaved = useUnsaved.getState().files.get(key);
      if (text === undefined || saving || !unsaved) return;
      attempt(async () => {
        if (unsaved.merged && conflictsIn(text) > 0 && !(await askConfirm(withMarks))) return;
        setSaving(true);
        await save(text, unsaved.version).finally(() => setSaving(false));
      });
    },
  };
}

const withMarks = {
  title: 'Save with conflict markers?',
  text: 'Some conflicts are still marked in the file.',
  verb: 'Save anyway',
};
