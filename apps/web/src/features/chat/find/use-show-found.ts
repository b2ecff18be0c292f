import { useEffect, useEffectEvent, type RefObject } from 'react';
import type { ChatSearch } from './use-chat-search';
import { useMarks } from './use-marks';

/** Scrolls to the current match whenever it changes, and marks the searched text. */
export function useShowFound(
  { wanted, current }: ChatSearch,
  content: RefObject<HTMLElement | null>,
  scrollTo: (index: number) => void,
): void {
  useMarks(content, wanted, current);
  const show = useEffectEvent((index: number | undefined) => {
    if (index !== undefined) scrollTo(index);
  });
  // Also for another text in the same row, since that may have scrolled away.
  useEffect(() => show(current), [wanted, current]);
}
