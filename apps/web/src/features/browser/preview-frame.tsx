import { useLayoutEffect, useRef, useState } from 'react';

/** Width and height in CSS pixels; null for those of the panel. */
export const previewSizes = {
  panel: { label: 'Panel size', size: null },
  phone: { label: 'Phone', size: { width: 390, height: 844 } },
  tablet: { label: 'Tablet', size: { width: 820, height: 1180 } },
  desktop: { label: 'Desktop', size: { width: 1440, height: 900 } },
} as const;
export type PreviewSize = keyof typeof previewSizes;

interface PreviewFrameProps {
  url: string;
  title: string;
  size: PreviewSize;
}

/**
 * Embeds the page, which has its own origin. It can neither navigate the dashboard away nor open
 * windows, because it could leak data in their addresses.
 */
export function PreviewFrame({ url, title, size }: PreviewFrameProps) {
  const box = useRef<HTMLDivElement>(null);
  const [space, setSpace] = useState<{ width: number; height: number } | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setSpace({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const wanted = previewSizes[size].size;
  const scale =
    wanted && space ? Math.min(1, space.width / wanted.width, space.height / wanted.height) : 1;
  return (
    <div ref={box} className="flex h-full items-start justify-center overflow-hidden bg-sunken">
      <div
        className={wanted ? 'shrink-0 overflow-hidden border-x border-b' : 'size-full'}
        style={wanted ? { width: wanted.width * scale, height: wanted.height * scale } : undefined}
      >
        <iframe
          src={url}
          title={title}
          sandbox="allow-scripts allow-same-origin allow-forms allow-downloads allow-modals"
          referrerPolicy="no-referrer"
          // As in a browser window, a page without a background is white.
          className="origin-top-left border-0 bg-[white]"
          style={
            wanted ? { ...wanted, transform: `scale(${scale})` } : { width: '100%', height: '100%' }
          }
        />
      </div>
    </div>
  );
}
