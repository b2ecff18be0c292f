import { useCallback, type ReactNode } from 'react';
import { create } from 'zustand';

interface Area {
  left: number;
  width: number;
}

/** Where toasts are shown, in pixels of the page; null where no header has the space. */
export const useToastArea = create<{ area: Area | null }>()(() => ({ area: null }));

const minWidth = 240;
const maxWidth = 520;

/** A part of a header with nothing to click in it, over which toasts are shown while it is wide enough. */
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
