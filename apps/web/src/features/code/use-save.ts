import { useQueryClient, type QueryKey } from '@tanstack/react-query';
import { isEnded } from '@belay/protocol';
import { client } from '@/lib/server';
import { attempt, say } from '@/lib/toasts';
import type { Editor } from '@/features/code/editor';
import { useSessionState } from '../sessions/queries';
import { useSessionId } from '../sessions/session-context';
import type { FileContent } from './file-content';
import { unsavedKey, useUnsaved } from './unsaved';

/** Saves what the editor shows into the sandbox; `queryKey` is where its content is kept. */
export function useSave(path: string, editor: Editor | null, queryKey: QueryKey): () => void {
  const session = useSessionId();
  const state = useSessionState(session);
  const cache = useQueryClient();
  return () => {
    const key = unsavedKey(session, path);
    if (!editor || !useUnsaved.getState().files.has(key)) return;
    const text = editor.text();
    attempt(async () => {
      if (state && isEnded(state)) await client.sessions.wake(session);
      await client.sessions.call(session, 'files.write', { path, content: text });
      cache.setQueryData(queryKey, (): FileContent => ({ kind: 'text', text }));
      useUnsaved
        .getState()
        .set(key, editor.text() === text ? null : { text: editor.text(), base: text });
      say(`Saved ${path}.`);
    });
  };
}
