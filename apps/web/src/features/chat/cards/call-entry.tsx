import type { ReactNode } from 'react';
import type { Event } from '@belay/protocol';
import { AskCard } from './ask-card';
import { byOperation, on } from './by-operation';
import { CallCard } from './call-card';
import { FinishCard } from './finish-card';
import { Reasoning } from './reasoning';

interface CallEntryProps {
  event: Event;
  /** Whether the call was refused before it began. */
  refused?: boolean;
}

/** A call, in its operation’s own card or in the general `CallCard`. */
export function CallEntry({ event, refused = false }: CallEntryProps) {
  return cardOf(event) ?? <CallCard event={event} refused={refused} />;
}

const cardOf = byOperation<ReactNode>(
  on('ask', (call) => <AskCard call={call} />),
  on('finish', (call) => <FinishCard call={call} />),
  on('think', ({ args }) => (
    <div className="py-1">
      <Reasoning text={args.thought} label="Thought" />
    </div>
  )),
);
