import { useState, type ReactNode } from 'react';
import { calledOperation, readableOutput, type Event } from '@belay/protocol';
import { FoldButton } from '@/components/ui/fold';
import { BlobImage } from '@/features/session-log/blob-image';
import { hasFailed, outcomeOf, type Result } from '@/features/session-log/call-result';
import { useIsPast, useView } from '@/features/session-log/session-context';
import { ActionFiles } from './action-files';
import { byOperation, on } from './by-operation';
import { CallDetail } from './call-detail';
import { CallLabel } from './call-label';
import { CallLinks } from './call-links';
import { CallOutcome } from './call-outcome';
import { EditLines } from './edit-lines';
import { ActionTail, CommandTail, OutputTail } from './output-tail';

/** A call and its outcome; unfolded, also its input, its output and links to other panels. */
export function CallCard({ event }: { event: Event }) {
  const [open, setOpen] = useState(false);
  const answer = useView((view) => view.results.get(event.id ?? ''));
  const backgroundResult = useView((view) => view.backgroundResults.get(event.id ?? ''));
  const result = outcomeOf(answer, backgroundResult);
  const past = useIsPast();
  return (
    <div className="py-1">
      <div className="overflow-hidden rounded-md border">
        <FoldButton
          open={open}
          onToggle={() => setOpen(!open)}
          className="w-full px-2 py-1 hover:bg-hover/60"
        >
          <CallLabel event={event} />
          <CallOutcome call={event} result={result} />
        </FoldButton>
        {!open && !result && !past && liveOf(event)}
        {!result && !past && isAction(event) && <ActionTail call={event.id ?? ''} />}
        {!open && result && <Glance event={event} result={result} />}
        {result && !backgroundResult && isAction(event) && (
          <ActionFiles output={result.args.output} />
        )}
        {open && <CallDetail event={event} result={result} />}
        {open && <CallLinks event={event} result={result} />}
      </div>
    </div>
  );
}

const isAction = ({ action }: Event): boolean => calledOperation(action)?.display === 'action';

/** The preview of a call that is still running. */
const liveOf = byOperation<ReactNode>(
  on('terminal.run', ({ args }) => <CommandTail terminal={args.terminal} />),
);

/** The preview in a folded card: the error, the first lines of an edit, or pictures. */
function Glance({ event, result }: { event: Event; result: Result }) {
  if (hasFailed(result)) return <OutputTail text={readableOutput(result.args)} />;
  if (calledOperation(event.action)?.display === 'edit')
    return <EditLines call={event.id ?? ''} limit={8} />;
  if (isAction(event)) return null;
  const { images } = result.args;
  return images.length === 0 ? null : (
    <div className="flex flex-wrap gap-2 border-t bg-sunken p-2">
      {images.map((blob) => (
        <BlobImage
          key={blob}
          blob={blob}
          alt={`Picture from ${event.action}`}
          className="max-h-48"
        />
      ))}
    </div>
  );
}
