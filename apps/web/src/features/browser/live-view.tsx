import { useEffect, useMemo, useRef, type KeyboardEvent, type MouseEvent } from 'react';
import type { BrowserFrame } from '@belay/client';
import { useBlobUrl } from '@/features/session-log/blob-image';
import type { LogView } from '@/features/session-log/log-view';
import { useSessionId } from '@/features/session-log/session-context';
import { client } from '@/lib/server';
import { toastError } from '@/lib/toasts';
import { userInput } from './user-input';

interface LiveViewProps {
  page: LogView['page'];
  /** Null at a past moment. */
  frame: BrowserFrame | null;
  holding: boolean;
}

/** The page as a picture: frames while it is live, otherwise the last screenshot. */
export function LiveView({ page, frame, holding }: LiveViewProps) {
  const session = useSessionId();
  const liveUrl = useFrameUrl(frame?.jpeg ?? null);
  const shotUrl = useBlobUrl(page?.args.screenshot ?? null);
  const picture = useRef<HTMLImageElement>(null);
  const src = liveUrl ?? shotUrl;
  const call = useMemo(
    () =>
      userInput(({ operation, input }) =>
        client.sessions.call(session, operation, input).catch(toastError),
      ),
    [session],
  );
  const click = (event: MouseEvent) => {
    const image = picture.current;
    if (!holding || !image) return;
    const box = image.getBoundingClientRect();
    const scale = image.naturalWidth / box.width;
    call('browser.click', {
      x: Math.max(0, Math.round((event.clientX - box.left) * scale)),
      y: Math.max(0, Math.round((event.clientY - box.top) * scale)),
    });
    image.parentElement?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!holding || event.ctrlKey || event.metaKey || event.altKey || event.key === 'Tab') return;
    event.preventDefault();
    call(
      'browser.type',
      event.key.length === 1 ? { text: event.key } : { text: '', key: event.key },
    );
  };
  if (!src)
    return (
      <p className="p-4 text-sm text-muted">
        {page?.args.title || page?.args.url}
        <span className="block text-faint">No screenshot of this page.</span>
      </p>
    );
  return (
    <div
      className="h-full overflow-auto bg-sunken"
      tabIndex={0}
      role={holding ? 'application' : 'region'}
      aria-label={holding ? 'The page; your keys go to it' : 'The page'}
      onKeyDown={onKeyDown}
      onWheel={(event) => holding && call('browser.scroll', { y: Math.round(event.deltaY) })}
    >
      {/* The picture only forwards clicks; keys go to the region around it. */}
      <img
        ref={picture}
        src={src}
        alt={page?.args.title || 'The page in the agent’s browser'}
        onClick={click}
        draggable={false}
        className={
          holding ? 'w-full cursor-crosshair outline-2 -outline-offset-2 outline-amber' : 'w-full'
        }
      />
    </div>
  );
}

function useFrameUrl(jpeg: Uint8Array | null): string | null {
  const url = useMemo(
    () => (jpeg ? URL.createObjectURL(new Blob([jpeg as BlobPart], { type: 'image/jpeg' })) : null),
    [jpeg],
  );
  useEffect(() => () => void (url && setTimeout(() => URL.revokeObjectURL(url), 1_000)), [url]);
  return url;
}
