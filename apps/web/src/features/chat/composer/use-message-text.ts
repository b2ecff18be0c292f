import { useState } from 'react';
import { isEvent, type Event } from '@belay/protocol';
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { useSessionContext } from '@/features/session-log/session-context';

interface Unsent {
  texts: Record<string, string>;
  set(session: string, text: string): void;
}

/** Unsent text, which is kept across reloads. */
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

/** Puts a text into the message box, unless the user is writing another one. */
export function putDraft(session: string, text: string): void {
  const { texts, set } = useUnsent.getState();
  if (!texts[session]) set(session, text);
}

/** The text of the message box, with a history of sent messages as in a shell. */
export function useMessageText() {
  const { id, log } = useSessionContext();
  const text = useUnsent(({ texts }) => texts[id] ?? '');
  const [shown, setShown] = useState<{ text: string; back: number } | null>(null);
  const setText = (next: string) => useUnsent.getState().set(id, next);
  return {
    text,
    setText,
    /** Shows the previous (1) or next (-1) message; false if there is none, or for edited text. */
    browse(step: 1 | -1): boolean {
      if (text !== '' && text !== shown?.text) return false;
      const sent = log
        .getState()
        .view.entries.filter(({ kind, event }) => kind === 'message' && event.source === 'user')
        .map(({ event }) => sentText(event))
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

const sentText = (event: Event): string =>
  isEvent(event, 'start') ? event.args.task : isEvent(event, 'message') ? event.args.text : '';
