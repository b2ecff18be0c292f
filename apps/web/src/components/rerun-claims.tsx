import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import {
  durationText,
  type JudgedClaim,
  type Rerun,
  type RerunState,
  type RerunVerdict,
} from '@belay/protocol';
import { clsx } from 'clsx';
import { CircleCheck, CircleHelp, CircleX } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { FoldButton } from '@/components/ui/fold';
import { QueryState } from '@/components/ui/query-state';
import { VisibleText } from '@/components/ui/visible-text';
import { downloadFile } from '@/lib/download-file';
import { client } from '@/lib/server';
import { stripAnsi } from '@/lib/strip-ansi';

/** The most characters of an output that the page shows. */
const maxShown = 20_000;

interface RerunClaimsProps {
  session: string;
  claims: readonly JudgedClaim[];
}

/** What was found by running commands again: each verdict with its reason, and what each run printed. */
export function RerunClaims({ session, claims }: RerunClaimsProps) {
  return (
    <ul aria-label="Verdicts" className="min-w-0 space-y-2 text-sm">
      {claims.map((claim) => (
        <li key={claim.claim} className="overflow-hidden rounded-md border">
          <Claim session={session} claim={claim} />
        </li>
      ))}
    </ul>
  );
}

function Claim({ session, claim: { claim, verdict, why, command, runs } }: ClaimProps) {
  const { icon: Icon, colour } = looks[verdict];
  return (
    <>
      <div className="flex gap-2 px-3 py-2">
        <Icon size={16} aria-hidden className={clsx('mt-0.5 shrink-0', colour)} />
        <div className="min-w-0 space-y-0.5 break-words">
          <p className="font-medium">
            {claim === 'check' ? 'Check' : 'Reproduction'} <span className={colour}>{verdict}</span>
          </p>
          <p className="text-muted">
            <VisibleText text={why} />
          </p>
          <p className="font-mono text-xs text-muted">
            <VisibleText text={command} />
          </p>
        </div>
      </div>
      {runs.length > 0 && (
        <ul aria-label="Runs" className="divide-y border-t bg-sunken text-xs">
          {runs.map((run, at) => (
            <Run key={at} session={session} run={run} />
          ))}
        </ul>
      )}
    </>
  );
}

interface ClaimProps {
  session: string;
  claim: JudgedClaim;
}

function Run({ session, run: { on, exitCode, seconds, output, problem } }: RunProps) {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <FoldButton
        open={open}
        onToggle={() => setOpen(!open)}
        className="w-full px-3 py-1 hover:bg-hover/60"
      >
        <span className="min-w-0 flex-1">{states[on]}</span>
        <span className="shrink-0 text-muted tabular-nums">
          {exitCode === null ? 'did not end' : `exit ${exitCode}`} ·{' '}
          {seconds === 0 ? 'under 1s' : durationText(seconds)}
        </span>
      </FoldButton>
      {open && problem !== null && (
        <p className="px-3 py-1 break-words">
          Not finished: <VisibleText text={problem} />
        </p>
      )}
      {open && <Output session={session} blob={output} />}
    </li>
  );
}

interface RunProps {
  session: string;
  run: Rerun;
}

function Output({ session, blob }: { session: string; blob: string | null }) {
  const query = useQuery({
    queryKey: ['blob', blob],
    queryFn: () => client.sessions.blob(session, blob ?? ''),
    enabled: blob !== null,
    staleTime: Infinity,
  });
  if (blob === null) return <p className="px-3 py-1 text-muted">It printed nothing.</p>;
  const text = query.data && stripAnsi(new TextDecoder().decode(query.data));
  return (
    <div className="space-y-1 px-3 pb-2">
      <QueryState query={query} what="the output" />
      {text !== undefined && (
        <>
          <pre className="max-h-72 overflow-auto rounded-md border bg-panel p-2 font-mono whitespace-pre-wrap">
            <VisibleText text={text.slice(-maxShown)} />
          </pre>
          {text.length > maxShown && <span className="text-muted">Only its end is shown. </span>}
          <Button small onClick={() => downloadFile('output.txt', text, 'text/plain')}>
            Download
          </Button>
        </>
      )}
    </div>
  );
}

const looks: Record<RerunVerdict, { icon: typeof CircleX; colour: string }> = {
  confirmed: { icon: CircleCheck, colour: 'text-pass' },
  refuted: { icon: CircleX, colour: 'text-fail' },
  inconclusive: { icon: CircleHelp, colour: 'text-amber' },
};

const states: Record<RerunState, string> = {
  base: 'Before the change',
  'base+tests': 'Before the change, with its test files',
  result: 'With the change',
  guarded: 'With the change, tests and settings as before',
};
