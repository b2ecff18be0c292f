import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { isEnded } from '@belay/protocol';
import { client } from '@/lib/server';
import { attempt, say } from '@/lib/toasts';
import type { Editor } from '@/features/code/editor';
import { useSessionState } from '../sessions/queries';
import { useSessionId } from '../sessions/session-context';
import { unsavedKey, useUnsaved } from './unsaved';

/** Saves what the editor shows into the sandbox. While it does, what lands is the person's own change. */
export function useSave(path: string, editor: Editor | null): { save(): void; saving: boolean } {
  const [saving, setSaving] = useState(false);
  const session = useSessionId();
  const state = useSessionState(session);
  const cache = useQueryClient();
  const save = async (text: string) => {
    const key = unsavedKey(session, path);
    if (state && isEnded(state)) await client.sessions.wake(session);
    await client.sessions.call(session, 'files.write', { path, content: text });
    await cache.refetchQueries({ queryKey: ['file', session, path], type: 'active' });
    const now = useUnsaved.getState().files.get(key)?.text ?? text;
    useUnsaved.getState().set(key, now === text ? null : { text: now, base: text });
    say(`Saved ${path}.`);
  };
  return {
    saving,
    save: () => {
      const text = editor?.text();
      if (
        text === undefined ||
        saving ||
        !useUnsaved.getState().files.has(unsavedKey(session, path))
      )
        return;
      setSaving(true);
      attempt(() => save(text).finally(() => setSaving(false)));
    },
  };
}
