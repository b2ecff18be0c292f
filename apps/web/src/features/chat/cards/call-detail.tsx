import { actionOutput, calledOperation, readableOutput, type Event } from '@belay/protocol';
import { ShieldCheck } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { CopyButton } from '@/components/ui/copy-button';
import { VisibleText } from '@/components/ui/visible-text';
import { BlobImage } from '@/features/session-log/blob-image';
import type { Result } from '@/features/session-log/call-result';
import { useSessionId } from '@/features/session-log/session-context';
import { downloadFile } from '@/lib/download-file';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { decisionOf } from './decision';
import { readableInput } from './readable-input';
import { EditLines } from './edit-lines';

interface CallDetailProps {
  event: Event;
  verdict: Event | undefined;
  result: Result | undefined;
}

/** The input and output of a call, and who decided on it. */
export function CallDetail({ event, verdict, result }: CallDetailProps) {
  return (
    <div className="border-t text-xs">
      <Block label="Input">{readableInput(event)}</Block>
      {verdict && (
        <p className="flex items-center gap-1.5 border-t px-3 py-1.5 text-muted">
          <ShieldCheck size={13} aria-hidden className="shrink-0" />
          {decisionOf(verdict).sentence}
        </p>
      )}
      <EditLines call={event.id ?? ''} limit={200} />
      {result && <Block label="Output">{readableOutput(result.args)}</Block>}
      {result && <WholeOutput output={result.args.output} />}
      {shownAlone(event, result).map((blob) => (
        <div key={blob} className="border-t p-2">
          <BlobImage blob={blob} alt={`Picture from ${event.action}`} className="max-h-72" />
        </div>
      ))}
    </div>
  );
}

const shortened = actionOutput.pick({ full: true });

/** The pictures of a result; those of an action are shown among its files instead. */
const shownAlone = (event: Event, result: Result | undefined): readonly string[] =>
  calledOperation(event.action)?.display === 'action' ? [] : (result?.args.images ?? []);

/** Downloads the full output if it was too long for the model. */
function WholeOutput({ output }: { output: unknown }) {
  const session = useSessionId();
  const { full } = shortened.safeParse(output).data ?? {};
  if (!full) return null;
  const save = () =>
    attempt(async () => {
      const text = await client.sessions.blob(session, full);
      downloadFile('output.txt', text as BlobPart, 'text/plain');
    });
  return (
    <div className="border-t px-3 py-1.5">
      <Button small onClick={save}>
        Download full output
      </Button>
    </div>
  );
}

function Block({ label, children }: { label: string; children: string }) {
  if (!children) return null;
  return (
    <div className="border-t first:border-t-0">
      <div className="flex items-center pt-0.5 pr-1 pl-3">
        <p className="flex-1 text-faint">{label}</p>
        <CopyButton label={`Copy the ${label.toLowerCase()}`} text={() => children} />
      </div>
      <pre
        tabIndex={0}
        aria-label={label}
        className="max-h-80 overflow-auto px-3 pb-2 leading-4.5 break-words whitespace-pre-wrap"
      >
        <VisibleText text={children} />
      </pre>
    </div>
  );
}
