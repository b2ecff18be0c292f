import { useState, type ReactNode } from 'react';
import { clsx } from 'clsx';
import { calledOperation, readableOutput, type Event } from '@belay/protocol';
import { FoldButton } from '@/components/ui/fold';
import { BlobImage } from '@/features/session-log/blob-image';
import { hasFailed, outcomeOf, type Result } from '@/features/session-log/call-result';
import { useIsPast, useView } from '@/features/session-log/session-context';
import { changesAreUndone } from '@/features/session-log/undone';
import { ActionFiles } from './action-files';
import { byOperation, on } from './by-operation';
import { CallDetail } from './call-detail';
import { CallLabel } from './call-label';
import { CallLinks } from './call-links';
import { callAsRun, decisionOf, decisionText } from './decision';
import { CallOutcome } from './call-outcome';
import { EditLines, shownEditLines } from './edit-lines';
import { ActionTail, CommandTail, OutputTail } from './output-tail';

interface CallCardProps {
  event: Event;
  /** Whether the call was refused before it began, so that only the model’s reply contains it. */
  refused?: boolean;
}

/** A call and its outcome; unfolded, also its input, its output and links to other panels. */
export function CallCard({ event: asked, refused = false }: CallCardProps) {
  const [open, setOpen] = useState(false);
  const verdict = useView((view) => view.verdicts.get(asked.id ?? ''));
  const event = callAsRun(asked, verdict);
  const answer = useView((view) => view.results.get(event.id ?? ''));
  const backgroundResult = useView((view) => view.backgroundResults.get(event.id ?? ''));
  const result = outcomeOf(answer, backgroundResult);
  const past = useIsPast();
  const undone = useView((view) => changesAreUndone(view, event.id));
  return (
    <div className="py-1">
      <div
        className={clsx(
          'overflow-hidden rounded-md border',
          (undone || refused) && 'border-dashed text-muted',
        )}
      >
        <FoldButton
          open={open}
          onToggle={() => setOpen(!open)}
          className="w-full px-2 py-1 hover:bg-hover/60"
        >
          <CallLabel event={event} undone={undone} />
          <CallOutcome call={event} result={result} refused={refused} />
        </FoldButton>
        {result ? (
          <Outcome
            {...{ event, result, verdict, open, undone }}
            inBackground={!!backgroundResult}
          />
        ) : (
          <Unended {...{ event, verdict, open, past }} />
        )}
        {open && <CallDetail event={event} verdict={verdict} result={result} />}
        {open && <CallLinks event={event} result={result} />}
      </div>
    </div>
  );
}

/** The denial of a call that its program never got, or the output so far of one that is still running. */
function Unended({ event, verdict, open, past }: UnendedProps) {
  if (verdict && !decisionOf(verdict).allowed)
    return open ? null : <OutputTail text={decisionText(verdict)} />;
  return past ? null : <Progress event={event} open={open} />;
}

interface UnendedProps extends Pick<GlanceProps, 'event' | 'verdict'> {
  open: boolean;
  past: boolean;
}

/** The output so far of a call that is still running. */
function Progress({ event, open }: { event: Event; open: boolean }) {
  if (isAction(event)) return <ActionTail call={event.id ?? ''} />;
  return open ? null : liveOf(event);
}

interface OutcomeProps extends GlanceProps {
  open: boolean;
  undone: boolean;
  inBackground: boolean;
}

/** The part of a result that is shown without unfolding the card, and the files of an action. */
function Outcome({ open, undone, inBackground, ...glance }: OutcomeProps) {
  const { event, result } = glance;
  return (
    <>
      {!open && !undone && <Glance {...glance} />}
      {!inBackground && isAction(event) && <ActionFiles output={result.args.output} />}
    </>
  );
}

const isAction = ({ action }: Event): boolean => calledOperation(action)?.display === 'action';

/** The preview of a call that is still running. */
const liveOf = byOperation<ReactNode>(
  on('terminal.run', ({ args }) => <CommandTail terminal={args.terminal} />),
);

interface GlanceProps {
  event: Event;
  result: Result;
  verdict: Event | undefined;
}

/** The preview in a folded card: the denial, the error, the first lines of an edit, or pictures. */
function Glance({ event, result, verdict }: GlanceProps) {
  if (verdict && !decisionOf(verdict).allowed) return <OutputTail text={decisionText(verdict)} />;
  if (hasFailed(result)) return <OutputTail text={readableOutput(result.args)} />;
  if (calledOperation(event.action)?.display === 'edit')
    return <EditLines call={event.id ?? ''} limit={shownEditLines} />;
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
