import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import {
  isEnded,
  wallSeconds,
  dollarsText,
  durationText,
  pluralText,
  needsUser,
  totalOfChange,
  type SessionSummary,
} from '@belay/protocol';
import { clsx } from 'clsx';
import { WaitingQuestions } from '@/components/approvals/waiting-questions';
import { Doing } from '@/components/doing';
import { Detail } from '@/components/ui/detail';
import { StateDot } from '@/components/ui/state-dot';
import { useNow } from '@/lib/use-now';
import { CheckFigure } from './check-figure';
import { PatchFiles } from './patch-files';
import { usePatch, type SessionPatch } from './use-patch';

interface ComparedSessionProps {
  session: SessionSummary;
  /** Distinguishes the session from the others. */
  label: string;
  /** Whether the user kept this session. */
  kept: boolean;
  /** The session’s actions. */
  children: ReactNode;
}

/** One session of a comparison: its state, figures and changes. */
export function ComparedSession({ session, label, kept, children }: ComparedSessionProps) {
  const patch = usePatch(session);
  const { id, state } = session;
  return (
    <section
      aria-label={label}
      className={clsx(
        // The rows of all sessions are aligned.
        'flex min-w-0 flex-col rounded-lg border bg-panel md:row-span-3 md:grid md:grid-cols-[minmax(0,1fr)] md:grid-rows-subgrid',
        kept && 'border-pass',
      )}
    >
      <header className="space-y-1 border-b p-3">
        <div className="flex items-start gap-2">
          <h2 className="min-w-0 flex-1 font-mono text-sm font-semibold wrap-anywhere">
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
          <Doing session={session} className="line-clamp-3 min-h-5" />
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
    <dl className="grid grid-cols-[72px_minmax(0,1fr)] content-start gap-x-3 gap-y-1 p-3 text-sm tabular-nums">
      <Detail name="Changes">{patch && !patch.tooLarge ? <DiffStat patch={patch} /> : '–'}</Detail>
      <Detail name="Cost">{dollarsText(session.dollars)}</Detail>
      <Detail name="Time">{durationText(wallSeconds(session.workTime, now))}</Detail>
      <Detail name="Steps">{session.steps}</Detail>
      {session.check && (
        <Detail name="Check">
          <CheckFigure session={session} check={session.check} />
        </Detail>
      )}
    </dl>
  );
}

function DiffStat({ patch: { files } }: { patch: SessionPatch }) {
  const total = totalOfChange({ files });
  if (total.files === 0) return 'none';
  return (
    <>
      {pluralText(total.files, 'file')} <span className="text-pass">+{total.added}</span>{' '}
      <span className="text-fail">−{total.removed}</span>
    </>
  );
}
