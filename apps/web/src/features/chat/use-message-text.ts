import { useState } from 'react';
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { useSessionContext } from '../sessions/session-context';
import { textOf } from './text-of';

interface Unsent {
  texts: Record<string, string>;
  set(session: string, text: string): void;
}

/** What was written and not sent yet outlives a reload. */
const useUnsent = create<Unsent>()(
  persist(
    (set) => ({
      texts: {},
      set: (session, text) =>
        set(({ texts }) => {
          const others = Object.entries(texts).filter(([id]) => id !== session);
          return { texts: Object.fromEntries(text ? [...others, [session, text]] : others) };
        }),
    }),
    { name: 'belay.unsent' },
  ),
);

/** The text of the message box, and what a person wrote before, to go through as in a shell. */
export function useMessageText() {
  const { id, log } = useSessionContext();
  const text = useUnsent(({ texts }) => texts[id] ?? '');
  const [shown, setShown] = useState<{ text: string; back: number } | null>(null);
  const setText = (next: string) => useUnsent.getState().set(id, next);
  return {
    text,
    setText,
    /** Goes a message back or forward; false when the text is the person's own, or there is none. */
    browse(step: 1 | -1): boolean {
      if (text !== (shown?.text ?? '')) return false;
      const sent = log
        .getState()
        .view.entries.filter(({ kind, event }) => kind === 'message' && event.source === 'user')
        .map(({ event }) => textOf(event.args[event.action === 'start' ? 'task' : 'text']))
        .filter(Boolean);
      const back = (text === '' ? 0 : (shown?.back ?? 0)) + step;
      const found = back === 0 ? '' : sent.at(-back);
      if (back < 0 || found === undefined) return false;
      setShown({ text: found, back });
      setText(found);
      return true;
    },
  };
}
