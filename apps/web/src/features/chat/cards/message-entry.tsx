import type { ReactNode } from 'react';
import { isEnded, clockText, type Event, type EventOf } from '@belay/protocol';
import { clsx } from 'clsx';
import { BlobImage } from '@/features/session-log/blob-image';
import { useIsPast, useLog, useSessionId, useView } from '@/features/session-log/session-context';
import { useSessionState } from '@/lib/summaries';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { isQueued } from './is-queued';
import { QueuedMessage } from './queued-message';

/** The task of the session, or a note that the session restarted. */
export function TaskEntry({ event }: { event: Event & EventOf<'start'> }) {
  const { task, images, again } = event.args;
  if (again) return <p className="py-1.5 text-sm text-faint">Restarted</p>;
  return <UserText time={event.time} text={task} images={images} />;
}

/** A message from the user. */
export function MessageEntry({ event }: { event: Event & EventOf<'message'> }) {
  const { images, delivery, pinned } = event.args;
  const { seq } = event;
  const session = useSessionId();
  const past = useIsPast();
  const state = useSessionState(session);
  const mayChange = useCanAct();
  const queued = useLog((log) => !past && isQueued(log.events, event));
  const edited = useView((view) => view.edited.get(seq) ?? null);
  const withdrawn = useView((view) => view.withdrawn.has(seq));
  const text = edited ?? event.args.text;
  const notes = [
    withdrawn && 'withdrawn; the agent does not read it',
    queued && (state && isEnded(state) ? 'not read yet' : 'queued until the end of this turn'),
    delivery === 'steer' && 'sent immediately',
    edited !== null && 'edited',
    pinned && 'pinned',
  ].filter(Boolean);
  return (
    <UserText
      look={withdrawn ? 'withdrawn' : queued ? 'queued' : 'plain'}
      time={event.time}
      text={text}
      images={images}
      note={notes.length ? ` (${notes.join(', ')})` : ''}
    >
      {mayChange && delivery === 'queue' && (
        <QueuedMessage session={session} message={seq} text={text} queued={queued} />
      )}
    </UserText>
  );
}

interface UserTextProps {
  time: string;
  text: string;
  images?: readonly string[];
  note?: string;
  look?: 'plain' | 'queued' | 'withdrawn';
  children?: ReactNode;
}

function UserText({ time, text, images = [], note, look = 'plain', children }: UserTextProps) {
  return (
    <div className="py-2">
      <div
        className={clsx(
          'rounded-lg border px-3 py-2',
          look === 'plain' ? 'bg-sunken' : 'border-dashed border-line-strong text-muted',
        )}
      >
        <p className="mb-0.5 text-xs font-medium text-faint">
          You{note}
          <time dateTime={time} className="float-right font-normal tabular-nums">
            {clockText(time)}
          </time>
        </p>
        <p
          className={clsx(
            'max-h-72 overflow-y-auto text-base break-words whitespace-pre-wrap',
            look === 'withdrawn' && 'line-through',
          )}
        >
          {text}
        </p>
        {images.length > 0 && (
          <div className="mt-2 flex flex-wrap gap-2">
            {images.map((blob) => (
              <BlobImage key={blob} blob={blob} alt="Attached picture" className="max-h-40" />
            ))}
          </div>
        )}
        {children}
      </div>
    </div>
  );
}
