import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import {
  isEnded,
  isEvent,
  elapsedText,
  type SessionCheck,
  type SessionSummary,
} from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

/** The result of the check command; a click shows the end of its output. */
export function CheckFigure({ session, check }: { session: SessionSummary; check: SessionCheck }) {
  const [open, setOpen] = useState(false);
  const readOnly = useReadOnly();
  const { seq, state } = check;
  const again = isEnded(session.state) && state !== 'running' && !readOnly;
  return (
    <div className="min-w-0">
      <Words check={check} ended={isEnded(session.state)} />
      <span className="-ml-2 flex flex-wrap gap-1 max-md:-ml-2.5">
        {state === 'ended' && seq !== null && (
          <Button small look="ghost" aria-expanded={open} onClick={() => setOpen(!open)}>
            Output
          </Button>
        )}
        {again && (
          <Button
            small
            look="ghost"
            onClick={() => attempt(() => client.comparisons.check(session.id))}
          >
            {state === 'waiting' ? 'Run now' : 'Run again'}
          </Button>
        )}
      </span>
      {open && seq !== null && <Output session={session.id} seq={seq} />}
    </div>
  );
}

function Words({ check, ended }: { check: SessionCheck; ended: boolean }) {
  const { state, exitCode, seconds, reason } = check;
  if (state === 'waiting')
    return <span className="text-faint">{ended ? 'not run' : 'at the end'} </span>;
  if (state === 'running') return <span className="text-run">running… </span>;
  if (state === 'failed') return <span className="text-fail">not run: {reason} </span>;
  const passed = exitCode === 0;
  return (
    <span className={passed ? 'text-pass' : 'text-fail'}>
      {passed ? 'passed' : 'failed'}, exit code {exitCode}
      {seconds !== null && <span className="text-faint"> ({elapsedText(seconds)})</span>}{' '}
    </span>
  );
}

function Output({ session, seq }: { session: string; seq: number }) {
  const { data } = useQuery({
    queryKey: ['check', session, seq],
    queryFn: () => client.sessions.events(session, { after: seq - 1, limit: 1 }),
    staleTime: Infinity,
  });
  const event = data?.[0];
  const text = event && isEvent(event, 'check') ? event.args.output : '';
  return (
    <pre
      tabIndex={0}
      aria-label="Output of the check"
      className="mt-1 max-h-60 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs whitespace-pre-wrap"
    >
      {data ? text || 'It printed nothing.' : 'Loading…'}
    </pre>
  );
}
