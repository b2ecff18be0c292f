import { useCallback, type ReactNode } from 'react';
import { create } from 'zustand';

interface Area {
  left: number;
  width: number;
}

/** The area for toasts, in pixels of the page; null if no header has enough space. */
export const useToastArea = create<{ area: Area | null }>()(() => ({ area: null }));

const minWidth = 240;
const maxWidth = 520;

/** A part of a header without controls. Toasts are shown over it if it is wide enough. */
export function ToastArea({ className, children }: { className: string; children?: ReactNode }) {
  const ref = useCallback((element: HTMLDivElement) => {
    const measure = () => useToastArea.setState({ area: within(element) });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      observer.disconnect();
      useToastArea.setState({ area: null });
    };
  }, []);
  return (
    <div ref={ref} className={className}>
      {children}
    </div>
  );
}

function within(element: HTMLElement): Area | null {
  const box = element.getBoundingClientRect();
  if (box.width < minWidth) return null;
  const width = Math.min(box.width, maxWidth);
  return { left: box.left + (box.width - width) / 2, width };
}
