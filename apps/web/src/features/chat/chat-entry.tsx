import { memo } from 'react';
import { isFact, type Event } from '@belay/protocol';
import { ApprovalEntry } from '../approvals/approval-entry';
import type { Entry } from '../sessions/log-view';
import { AskCard } from './ask-card';
import { CallCard } from './call-card';
import { FinishCard } from './finish-card';
import { MessageEntry } from './message-entry';
import { NoteEntry } from './note-entry';
import { Reasoning } from './reasoning';
import { SayEntry } from './say-entry';
import { textOf } from './text-of';

/** One entry of the conversation, as what it is. */
export const ChatEntry = memo(function ChatEntry({ entry }: { entry: Entry }) {
  const { event } = entry;
  if (entry.kind === 'message') return <MessageEntry event={event} />;
  if (entry.kind === 'approval' && isFact(event, 'approval'))
    return <ApprovalEntry event={event} />;
  if (entry.kind === 'say' && isFact(event, 'say')) return <SayEntry event={event} />;
  if (entry.kind === 'call') return <Call event={event} />;
  return <NoteEntry event={event} />;
});

function Call({ event }: { event: Event }) {
  if (event.action === 'ask') return <AskCard event={event} />;
  if (event.action === 'finish') return <FinishCard event={event} />;
  if (event.action === 'think')
    return (
      <div className="py-1">
        <Reasoning text={textOf(event.args['thought'])} label="Thought" />
      </div>
    );
  return <CallCard event={event} />;
}
