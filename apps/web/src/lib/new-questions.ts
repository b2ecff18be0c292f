import { useLayoutEffect, useState } from 'react';

/**
 * How long a question must be shown before it can be answered; an earlier answer was meant for
 * another one.
 */
export const readingMs = 700;

/** The question of each session that shortcuts answer, with the time when it became the first. */
const firsts = new Map<string, { id: string; at: number }>();

/** The questions on the page, with the time they appeared there: later, while the page is busy. */
const shown = new Map<string, number>();
const keyOf = (session: string, question: string): string => `${session} ${question}`;

/** Must be called whenever a session’s questions change. `before` are its previous questions. */
export function noteQuestions(
  session: string,
  [first]: readonly string[],
  [before]: readonly string[] = [],
): void {
  if (first === undefined) firsts.delete(session);
  else if (first !== (firsts.get(session)?.id ?? before))
    firsts.set(session, { id: first, at: performance.now() });
}

/** Whether a shortcut may answer the first question of a session. */
export function mayAnswerFirst(session: string): boolean {
  const first = firsts.get(session);
  if (!first) return true;
  const since = Math.max(first.at, shown.get(keyOf(session, first.id)) ?? 0);
  return performance.now() - since > readingMs;
}

/** Whether the component has been mounted long enough for a click to answer its question. */
export function useMayAnswer(session: string, question: string): boolean {
  const [isRead, setRead] = useState(false);
  // Before a key can be pressed that sees it.
  useLayoutEffect(() => {
    const key = keyOf(session, question);
    shown.set(key, performance.now());
    const timer = setTimeout(() => setRead(true), readingMs);
    return () => {
      clearTimeout(timer);
      shown.delete(key);
    };
  }, [session, question]);
  return isRead;
}
