import { useEffect, type RefObject } from 'react';

/** Nearer to the end than this counts as being there, in pixels. */
const near = 48;

/** A list that measures its rows also scrolls by itself: only scrolling after one of these is by the user. */
const touches = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;
const recent = 1_000;

/**
 * Keeps a list at its end while it grows or its container shrinks, until the user
 * scrolls up; back at the end it sticks again.
 */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
): void {
  useEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (!element || !inner) return;
    let sticks = true;
    let top = element.scrollTop;
    let touched = 0;
    const touch = () => {
      touched = performance.now();
    };
    const scrolled = () => {
      const { scrollTop, scrollHeight, clientHeight } = element;
      if (scrollHeight - scrollTop - clientHeight < near) sticks = true;
      else if (scrollTop < top && performance.now() - touched < recent) sticks = false;
      top = scrollTop;
    };
    const stick = () => {
      if (sticks) element.scrollTop = element.scrollHeight;
      top = element.scrollTop;
    };
    const sizes = new ResizeObserver(stick);
    sizes.observe(element);
    sizes.observe(inner);
    element.addEventListener('scroll', scrolled, { passive: true });
    for (const name of touches) element.addEventListener(name, touch, { passive: true });
    return () => {
      sizes.disconnect();
      for (const name of touches) element.removeEventListener(name, touch);
      element.removeEventListener('scroll', scrolled);
    };
  }, [scroller, content]);
}
