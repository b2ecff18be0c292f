import type { Event } from '@belay/protocol';
import { clock } from '@/lib/format';
import { BlobImage } from './blob-image';
import { textOf } from './text-of';

/** What a person wrote: the task, or a message. */
export function MessageEntry({ event }: { event: Event }) {
  const text = textOf(event.action === 'start' ? event.args['task'] : event.args['text']);
  const images = Array.isArray(event.args['images']) ? (event.args['images'] as string[]) : [];
  const steer = event.args['delivery'] === 'steer';
  if (event.action === 'start' && event.args['again'] === true)
    return <p className="py-1.5 text-sm text-faint">Restarted</p>;
  return (
    <div className="py-2">
      <div className="rounded-lg border bg-sunken px-3 py-2">
        <p className="mb-0.5 text-xs font-medium text-faint">
          You{steer && ' · steered'}
          {event.args['pinned'] === true && ' · pinned'}
          <time dateTime={event.time} className="float-right font-normal tabular-nums">
            {clock(event.time)}
          </time>
        </p>
        <p className="max-h-72 overflow-y-auto text-base break-words whitespace-pre-wrap">{text}</p>
        {images.length > 0 && (
          <div className="mt-2 flex flex-wrap gap-2">
            {images.map((blob) => (
              <BlobImage key={blob} blob={blob} alt="Attached picture" className="max-h-40" />
            ))}
          </div>
        )}
      </div>
    </div>
  );
}
