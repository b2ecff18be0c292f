import { useEffect, useState } from 'react';

/** How long a question must be there before it can be answered: an answer that comes sooner was meant for another. */
export const readingMs = 700;

/** The question of each session that keys answer, and since when. */
const firsts = new Map<string, { id: string; at: number }>();

/** To be called with each change of what a session asks; `shown` are the questions that it asked before. */
export function noteQuestions(
  session: string,
  [first]: readonly string[],
  [shown]: readonly string[] = [],
): void {
  if (first === undefined) firsts.delete(session);
  else if (first !== (firsts.get(session)?.id ?? shown))
    firsts.set(session, { id: first, at: performance.now() });
}

/** Whether a key may answer the first question of a session. */
export const mayAnswerFirst = (session: string): boolean =>
  performance.now() - (firsts.get(session)?.at ?? -Infinity) > readingMs;

/** Whether what asks has been on the page long enough to be answered by a click. */
export function useMayAnswer(): boolean {
  const [isRead, setRead] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRead(true), readingMs);
    return () => clearTimeout(timer);
  }, []);
  return isRead;
}
