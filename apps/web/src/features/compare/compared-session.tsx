import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import {
  isEnded,
  wallSeconds,
  dollarsText,
  durationText,
  pluralText,
  type SessionSummary,
} from '@belay/protocol';
import { clsx } from 'clsx';
import { WaitingQuestions } from '@/components/approvals/waiting-questions';
import { StateDot } from '@/components/ui/state-dot';
import { needsUser } from '@/features/session-log/needs-user';
import { useNow } from '@/lib/use-now';
import { stripMarkdown } from '@/lib/strip-markdown';
import { CheckFigure } from './check-figure';
import { PatchFiles } from './patch-files';
import { usePatch, type SessionPatch } from './use-patch';

interface ComparedSessionProps {
  session: SessionSummary;
  /** What tells it from the others. */
  label: string;
  /** Whether it is the one that was kept. */
  kept: boolean;
  /** What can be done with it. */
  children: ReactNode;
}

/** One session of a comparison: its state, figures and changes. */
export function ComparedSession({ session, label, kept, children }: ComparedSessionProps) {
  const patch = usePatch(session);
  const { id, state, current, reason } = session;
  const doing = isEnded(state) ? stripMarkdown(reason ?? '') : (current ?? reason ?? '');
  return (
    <section
      aria-label={label}
      className={clsx('flex min-w-0 flex-col rounded-lg border bg-panel', kept && 'border-pass')}
    >
      <header className="space-y-1 border-b p-3">
        <div className="flex items-center gap-2">
          <h2 className="min-w-0 flex-1 font-mono text-sm font-semibold break-all">
            <Link to="/sessions/$id" params={{ id }} className="hover:underline">
              {label}
            </Link>
          </h2>
          <StateDot state={state} />
        </div>
        {needsUser(session) ? (
          <div className="rounded-md bg-amber-soft p-2">
            <WaitingQuestions session={session} />
          </div>
        ) : (
          <p
            className={clsx(
              'line-clamp-3 min-h-5 text-sm break-words text-muted',
              !isEnded(state) && current !== null && 'font-mono text-xs',
            )}
          >
            {doing}
          </p>
        )}
        <div className="flex flex-wrap gap-2 pt-1">{children}</div>
      </header>
      <Figures session={session} patch={patch} />
      {patch && <PatchFiles patch={patch} label={label} />}
    </section>
  );
}

function Figures({ session, patch }: { session: SessionSummary; patch: SessionPatch | undefined }) {
  const now = useNow(1_000, !isEnded(session.state));
  return (
    <dl className="grid grid-cols-[72px_minmax(0,1fr)] gap-x-3 gap-y-1 p-3 text-sm tabular-nums">
      <Figure name="Changes">{patch && !patch.tooLarge ? <DiffStat patch={patch} /> : '–'}</Figure>
      <Figure name="Cost">{dollarsText(session.dollars)}</Figure>
      <Figure name="Time">{durationText(wallSeconds(session.workTime, now))}</Figure>
      <Figure name="Steps">{session.steps}</Figure>
      {session.check && (
        <Figure name="Check">
          <CheckFigure session={session} check={session.check} />
        </Figure>
      )}
    </dl>
  );
}

const Figure = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-faint">{name}</dt>
    <dd className="min-w-0">{children}</dd>
  </>
);

function DiffStat({ patch: { files } }: { patch: SessionPatch }) {
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <>
      {pluralText(files.length, 'file')} <span className="text-pass">+{added}</span>{' '}
      <span className="text-fail">−{removed}</span>
    </>
  );
}
