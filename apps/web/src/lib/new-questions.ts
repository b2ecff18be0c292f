import { useEffect, useState } from 'react';

/**
 * How long a question must be shown before it can be answered; an earlier answer was meant for
 * another one.
 */
export const readingMs = 700;

/** The question of each session that shortcuts answer, with the time it appeared. */
const firsts = new Map<string, { id: string; at: number }>();

/** Must be called whenever a session’s questions change. `shown` are its previous questions. */
export function noteQuestions(
  session: string,
  [first]: readonly string[],
  [shown]: readonly string[] = [],
): void {
  if (first === undefined) firsts.delete(session);
  else if (first !== (firsts.get(session)?.id ?? shown))
    firsts.set(session, { id: first, at: performance.now() });
}

/** Whether a shortcut may answer the first question of a session. */
export const mayAnswerFirst = (session: string): boolean =>
  performance.now() - (firsts.get(session)?.at ?? -Infinity) > readingMs;

/** Whether the component has been mounted long enough for a click to answer its question. */
export function useMayAnswer(): boolean {
  const [isRead, setRead] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRead(true), readingMs);
    return () => clearTimeout(timer);
  }, []);
  return isRead;
}
