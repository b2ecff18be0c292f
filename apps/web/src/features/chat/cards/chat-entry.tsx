import { memo } from 'react';
import { isEvent } from '@belay/protocol';
import type { LogEntry } from '@/features/session-log/log-entries';
import { ApprovalEntry } from './approval-entry';
import { BackgroundResultCard } from './background-result-card';
import { CallEntry } from './call-entry';
import { GesturesEntry } from './gestures-entry';
import { MessageEntry, TaskEntry } from './message-entry';
import { NoteEntry } from './note-entry';
import { PublishEntry } from './publish-entry';
import { ReadsCard } from './reads-card';
import { RefusedCall } from './refused-call';
import { RewindEntry } from './rewind-entry';
import { SayEntry } from './say-entry';

/** Fewer consecutive reads than this are shown individually. */
const fewReads = 3;

/** An entry of the conversation, rendered according to its kind. */
export const ChatEntry = memo(function ChatEntry({ entry }: { entry: LogEntry }) {
  const { event } = entry;
  if (isEvent(event, 'start')) return <TaskEntry event={event} />;
  if (isEvent(event, 'message')) return <MessageEntry event={event} />;
  if (isEvent(event, 'approval')) return <ApprovalEntry event={event} />;
  if (isEvent(event, 'publish')) return <PublishEntry event={event} />;
  if (isEvent(event, 'rewind')) return <RewindEntry event={event} />;
  if (isEvent(event, 'result')) return <RefusedCall event={event} />;
  if (isEvent(event, 'say')) return <SayEntry event={event} />;
  if (isEvent(event, 'background-result')) return <BackgroundResultCard event={event} />;
  if (entry.gestures) return <GesturesEntry event={event} gestures={entry.gestures} />;
  if (entry.reads && entry.reads.length > 1)
    return entry.reads.length < fewReads ? (
      entry.reads.map((read) => <CallEntry key={read.seq} event={read} />)
    ) : (
      <ReadsCard events={entry.reads} />
    );
  if (entry.kind === 'call') return <CallEntry event={event} />;
  return <NoteEntry event={event} />;
});
