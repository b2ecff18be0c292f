import { useState } from 'react';
import { ChevronRight } from 'lucide-react';
import type { Event } from '@belay/protocol';
import { cx } from '@/lib/classes';
import { useNow } from '@/lib/clock';
import { duration, took } from '@/lib/format';
import { failed, type Result } from '../sessions/log-view';
import { useWaits } from '../sessions/queries';
import { useIsPast, useSessionId, useView } from '../sessions/session-context';
import { CallDetail } from './call-detail';
import { CallLinks } from './call-links';
import { callSubject } from './call-subject';
import { EditLines } from './edit-lines';
import { LiveOutput } from './live-output';
import { textOf } from './text-of';

/** One operation: what was asked, what came of it, and where to look closer. */
export function CallCard({ event }: { event: Event }) {
  const [open, setOpen] = useState(false);
  const id = event.id ?? '';
  const result = useView((view) => view.results.get(id));
  const past = useIsPast();
  return (
    <div className="py-1">
      <div className="overflow-hidden rounded-md border">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex w-full items-center gap-2 px-2 py-1 text-left hover:bg-hover/60"
        >
          <ChevronRight
            size={13}
            aria-hidden
            className={cx(
              'shrink-0 text-faint transition-transform duration-100',
              open && 'rotate-90',
            )}
          />
          <span className="min-w-0 flex-1 truncate font-mono text-xs leading-5">
            <span className="text-faint">
              {event.source === 'user' && 'you · '}
              {event.action}
            </span>{' '}
            {callSubject(event).split('\n')[0]}
          </span>
          <Outcome result={result} call={id} begun={event.time} />
        </button>
        {!open && !result && !past && event.action === 'terminal.run' && (
          <LiveOutput event={event} />
        )}
        {!open && result && <Glance event={event} result={result} />}
        {open && <CallDetail event={event} result={result} />}
        {open && <CallLinks event={event} result={result} />}
      </div>
    </div>
  );
}

/** Shown once it takes longer than a moment. */
function Elapsed({ since }: { since: string }) {
  const seconds = (useNow() - Date.parse(since)) / 1_000;
  return seconds < 3 ? null : <span className="tabular-nums">{duration(seconds)}</span>;
}

interface OutcomeProps {
  result: Result | undefined;
  call: string;
  /** When it was asked for. */
  begun: string;
}

function Outcome({ result, call, begun }: OutcomeProps) {
  const commit = useView((view) => view.commits.get(call));
  const waiting = useWaits(useSessionId(), call);
  if (!result && waiting) return <span className="shrink-0 text-xs text-amber">waits for you</span>;
  if (!result)
    return (
      <span className="flex shrink-0 items-center gap-1.5 text-xs text-run">
        <span aria-hidden className="size-1.5 animate-breathe rounded-full bg-run" />
        running
        <Elapsed since={begun} />
      </span>
    );
  const output = result.args.output as { exitCode?: unknown; status?: unknown } | null;
  const lines = commit?.args.files.reduce(
    (sum, file) => ({ added: sum.added + file.added, removed: sum.removed + file.removed }),
    { added: 0, removed: 0 },
  );
  return (
    <span className="flex shrink-0 items-center gap-2 text-xs tabular-nums">
      {lines && (
        <span>
          <span className="text-pass">+{lines.added}</span>{' '}
          <span className="text-fail">−{lines.removed}</span>
        </span>
      )}
      {typeof output?.exitCode === 'number' && (
        <span className={failed(result) ? 'text-fail' : 'text-pass'}>exit {output.exitCode}</span>
      )}
      {!result.args.ok && <span className="text-fail">failed</span>}
      {output?.status === 'background' && <span className="text-run">in background</span>}
      <span className="text-faint">{took(result.args.seconds)}</span>
    </span>
  );
}

/** What is shown of a folded card: why it failed, or the lines of a small edit. */
function Glance({ event, result }: { event: Event; result: Result }) {
  const output = result.args.output as { message?: unknown; text?: unknown } | null;
  if (failed(result)) {
    const text = (textOf(output?.message) || textOf(output?.text)).trimEnd();
    return text ? (
      <pre className="border-t bg-sunken px-3 py-1.5 text-xs leading-4.5 break-words whitespace-pre-wrap text-muted">
        {text.split('\n').slice(-6).join('\n')}
      </pre>
    ) : null;
  }
  return event.action.startsWith('files.') ? <EditLines call={event.id ?? ''} limit={8} /> : null;
}
