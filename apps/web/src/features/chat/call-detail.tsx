import { mcpOutput, type Event } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { CopyButton } from '@/components/ui/copy-button';
import { download } from '@/lib/download';
import { bytes } from '@/lib/format';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { useSessionId } from '../sessions/session-context';
import type { Result } from '../sessions/log-view';
import { BlobImage } from './blob-image';
import { EditLines } from './edit-lines';

/** The whole input and output of a call. */
export function CallDetail({ event, result }: { event: Event; result: Result | undefined }) {
  return (
    <div className="border-t text-xs">
      <Block label="Input">{inputText(event)}</Block>
      <EditLines call={event.id ?? ''} limit={200} />
      {result && <Block label="Output">{outputText(result)}</Block>}
      {result && <WholeOutput output={result.args.output} />}
      {result?.args.images.map((blob) => (
        <div key={blob} className="border-t p-2">
          <BlobImage blob={blob} alt={`Picture from ${event.action}`} className="max-h-72" />
        </div>
      ))}
    </div>
  );
}

/** The rest of a result of an MCP tool that was too long for the model. */
function WholeOutput({ output }: { output: unknown }) {
  const session = useSessionId();
  const parsed = mcpOutput.safeParse(output);
  const { full } = parsed.data ?? {};
  if (!full) return null;
  const save = () =>
    attempt(async () => {
      const text = await client.sessions.blob(session, full);
      download('output.txt', text as BlobPart, 'text/plain');
    });
  return (
    <div className="border-t px-3 py-1.5">
      <Button small onClick={save}>
        Save the whole output
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
        {children}
      </pre>
    </div>
  );
}

function inputText({ action, args }: Event): string {
  if (action === 'terminal.run') return String(args['command']);
  if (action === 'files.patch') return String(args['patch']);
  const { content, ...rest } = args;
  return content === undefined ? JSON.stringify(rest, null, 2) : JSON.stringify(rest);
}

function outputText({ args }: Result): string {
  const output = args.output as Record<string, unknown> | null;
  const text =
    output?.['text'] ?? output?.['content'] ?? (args.ok ? undefined : output?.['message']);
  if (typeof text === 'string') {
    const omitted = output?.['omittedBytes'];
    const note = typeof omitted === 'number' && omitted > 0 ? `\n[${bytes(omitted)} left out]` : '';
    const structured = output?.['structuredContent'];
    const more = structured ? `\n${JSON.stringify(structured, null, 2)}` : '';
    return text.trimEnd() + note + more;
  }
  const json = JSON.stringify(output, null, 2) ?? '';
  return json === '{}' ? '' : json.slice(0, 20_000);
}
