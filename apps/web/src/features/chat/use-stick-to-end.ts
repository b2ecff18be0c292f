import { useEffect, useEffectEvent, type RefObject } from 'react';

/** In pixels; positions closer to the end count as the end. */
const near = 48;

/**
 * A list that measures its rows also scrolls itself: only scrolling shortly after one of these
 * events is attributed to the user.
 */
const touches = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;
const recent = 1_000;

interface StickToEndOptions {
  scroller: RefObject<HTMLElement | null>;
  content: RefObject<HTMLElement | null>;
  /** Whether scrolling up, by whatever means, is the user’s wish, as during a search. */
  obeys: boolean;
}

/**
 * Keeps a list scrolled to its end while it grows or its container shrinks, until the user scrolls
 * up. Scrolling back to the end resumes this.
 */
export function useStickToEnd({ scroller, content, obeys }: StickToEndOptions): void {
  const isWish = useEffectEvent((touched: number) => obeys || performance.now() - touched < recent);
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
      else if (scrollTop < top && isWish(touched)) sticks = false;
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
