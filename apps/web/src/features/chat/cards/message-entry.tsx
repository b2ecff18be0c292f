import type { ReactNode } from 'react';
import { isEnded, clockText, type Event, type EventOf } from '@belay/protocol';
import { clsx } from 'clsx';
import { Undo2 } from 'lucide-react';
import { IconButton } from '@/components/ui/icon-button';
import { Markdown } from '@/components/ui/markdown';
import { VisibleText } from '@/components/ui/visible-text';
import { askRewind } from '@/features/session-controls/ask-undo';
import { attempt } from '@/lib/toasts';
import { BlobImage } from '@/features/session-log/blob-image';
import {
  useIsPast,
  useLog,
  useSessionContext,
  useView,
} from '@/features/session-log/session-context';
import { useSessionState } from '@/lib/summaries';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { putDraft } from '../composer/use-message-text';
import { isQueued } from './is-queued';
import { QueuedMessage } from './queued-message';

/** The task of the session, or a note that the session restarted. */
export function TaskEntry({ event }: { event: Event & EventOf<'start'> }) {
  const { task, images, again } = event.args;
  const mayChange = useCanAct();
  const context = useSessionContext();
  if (again) return <p className="py-1.5 text-sm text-faint">Restarted</p>;
  const { seq } = event;
  const rewind = () => askRewind(context, { seq, title: 'Rewind to the task?' });
  const onRewind = mayChange ? () => attempt(rewind) : undefined;
  return (
    <UserText
      time={event.time}
      text={task}
      images={images}
      onRewind={onRewind}
      rewindLabel="Rewind to the task…"
    />
  );
}

/** A message from the user. */
export function MessageEntry({ event }: { event: Event & EventOf<'message'> }) {
  const { images, delivery } = event.args;
  const { seq } = event;
  const context = useSessionContext();
  const { id: session } = context;
  const past = useIsPast();
  const state = useSessionState(session);
  const mayChange = useCanAct();
  const queued = useLog((log) => !past && isQueued(log.events, event));
  const edited = useView((view) => view.edited.get(seq) ?? null);
  const withdrawn = useView((view) => view.withdrawn.has(seq));
  const text = edited ?? event.args.text;
  // The text returns to the message box, so that it can be changed and sent again.
  const rewind = async () => {
    const title = 'Rewind to before this message?';
    if (await askRewind(context, { seq: seq - 1, title })) putDraft(session, text);
  };
  const isOver = state !== undefined && isEnded(state);
  const note = noteOf(event, { queued, isOver, withdrawn, isEdited: edited !== null });
  return (
    <UserText
      look={withdrawn ? 'withdrawn' : queued ? 'queued' : 'plain'}
      time={event.time}
      text={text}
      images={images}
      note={note}
      rewindLabel="Rewind to before this message…"
      onRewind={mayChange && !queued && !withdrawn ? () => attempt(rewind) : undefined}
    >
      {mayChange && delivery === 'queue' && (
        <QueuedMessage session={session} message={seq} text={text} queued={queued} />
      )}
    </UserText>
  );
}

interface MessageState {
  queued: boolean;
  /** Whether the session has ended. */
  isOver: boolean;
  withdrawn: boolean;
  isEdited: boolean;
}

/** What happened to a message, in parentheses; empty for an ordinary one. */
function noteOf(
  { args: { delivery, pinned } }: EventOf<'message'>,
  { queued, isOver, withdrawn, isEdited }: MessageState,
): string {
  const notes = [
    withdrawn && 'withdrawn; the agent does not read it',
    queued && (isOver ? 'not read yet' : 'queued until the end of this turn'),
    delivery === 'steer' && 'sent immediately',
    isEdited && 'edited',
    pinned && 'pinned',
  ].filter(Boolean);
  return notes.length > 0 ? ` (${notes.join(', ')})` : '';
}

/** A longer text, such as a pasted log, would take long to parse. */
const longestMarkdown = 20_000;

interface UserTextProps {
  time: string;
  text: string;
  images?: readonly string[];
  note?: string;
  look?: 'plain' | 'queued' | 'withdrawn';
  /** Undefined if the session cannot be rewound to this place. */
  onRewind?: (() => void) | undefined;
  rewindLabel: string;
  children?: ReactNode;
}

function UserText({
  time,
  text,
  images = [],
  note,
  look = 'plain',
  onRewind,
  rewindLabel,
  children,
}: UserTextProps) {
  return (
    <div className="group/message py-2">
      <div
        className={clsx(
          'rounded-lg border px-3 py-2',
          look === 'plain' ? 'bg-sunken' : 'border-dashed border-line-strong text-muted',
        )}
      >
        <div className="mb-0.5 flex items-center gap-1 text-xs text-faint">
          <p className="min-w-0 flex-1 font-medium">You{note}</p>
          {onRewind && (
            <IconButton
              label={rewindLabel}
              icon={Undo2}
              onClick={onRewind}
              className="size-5 opacity-0 group-hover/message:opacity-100 focus-visible:opacity-100 max-md:opacity-100"
            />
          )}
          <time dateTime={time} className="tabular-nums">
            {clockText(time)}
          </time>
        </div>
        <div
          className={clsx(
            'max-h-72 overflow-y-auto text-base break-words [&_p]:whitespace-pre-line',
            look === 'withdrawn' && 'line-through',
          )}
        >
          {text.length > longestMarkdown ? (
            <p>
              <VisibleText text={text} />
            </p>
          ) : (
            <Markdown text={text} />
          )}
        </div>
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
