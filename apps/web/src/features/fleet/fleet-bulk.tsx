import { Archive, ArchiveRestore, Check, Square, X } from 'lucide-react';
import { errorFrom, isEnded, pluralText, type SessionSummary } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { archiveControl, sessionControls } from '@/features/session-controls/session-controls';
import { askConfirm } from '@/lib/ask';
import { client } from '@/lib/server';
import { toast, useToasts } from '@/lib/toasts';

interface FleetBulkProps {
  /** The selected sessions that are shown. */
  picked: readonly SessionSummary[];
  onDone(): void;
}

/** Actions on all selected sessions; each button shows their number. */
export function FleetBulk({ picked, onDone }: FleetBulkProps) {
  const asking = picked.filter(({ state, waitingFor }) => !isEnded(state) && waitingFor.length > 0);
  const going = picked.filter(sessionControls.stop.offered);
  const archived = picked.every((session) => session.archived);
  const run = async (
    sessions: readonly SessionSummary[],
    done: string,
    work: (session: SessionSummary) => Promise<unknown>,
  ) => {
    await forEach(sessions, done, work);
    onDone();
  };
  return (
    <div
      role="toolbar"
      aria-label="Selected sessions"
      className="fixed inset-x-4 bottom-4 z-20 mx-auto flex w-fit flex-wrap items-center gap-2 rounded-lg border border-line-strong bg-panel px-3 py-2 max-sm:bottom-18"
    >
      <span className="mr-1 text-sm font-medium tabular-nums">{picked.length} selected</span>
      {asking.length > 0 && (
        <Button small look="amber" onClick={() => void allow(asking, run)}>
          <Check size={13} aria-hidden /> Allow {asking.length}…
        </Button>
      )}
      {going.length > 0 && (
        <Button small look="danger" onClick={() => void stop(going, run)}>
          <Square size={13} aria-hidden /> Stop {going.length}…
        </Button>
      )}
      <Button
        small
        onClick={() =>
          void run(picked, archived ? 'unarchived' : 'archived', archiveControl({ archived }).act)
        }
      >
        {archived ? <ArchiveRestore size={13} aria-hidden /> : <Archive size={13} aria-hidden />}
        {archived ? 'Unarchive' : `Archive ${picked.length}`}
      </Button>
      <Button small look="ghost" onClick={onDone}>
        <X size={13} aria-hidden /> Clear selection
      </Button>
    </div>
  );
}

type Run = (
  sessions: readonly SessionSummary[],
  done: string,
  work: (session: SessionSummary) => Promise<unknown>,
) => Promise<void>;

/** Asks for confirmation with a list of the calls, since it allows several at once. */
async function allow(asking: readonly SessionSummary[], run: Run): Promise<void> {
  const requests = asking.flatMap(({ waitingFor }) => waitingFor);
  const sure = await askConfirm({
    title: `Allow ${pluralText(requests.length, 'call')} once?`,
    lines: requests.map(({ operation, subject }) => `${operation} ${subject}`),
    verb: 'Allow once',
  });
  if (!sure) return;
  await run(asking, 'allowed', ({ id, waitingFor }) =>
    Promise.all(
      waitingFor.map((request) => client.sessions.answer(id, request.id, { verdict: 'approved' })),
    ),
  );
}

async function stop(going: readonly SessionSummary[], run: Run): Promise<void> {
  if (await sessionControls.stop.confirm(going))
    await run(going, 'stopped', sessionControls.stop.act);
}

/** A failure does not stop the action on the other sessions; failures are reported at the end. */
async function forEach(
  sessions: readonly SessionSummary[],
  done: string,
  work: (session: SessionSummary) => Promise<unknown>,
): Promise<void> {
  const outcomes = await Promise.allSettled(sessions.map(work));
  const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
  const well = outcomes.length - failed.length;
  if (well > 0) toast(`${pluralText(well, 'session')} ${done}.`);
  if (failed[0])
    useToasts
      .getState()
      .show(
        `${pluralText(failed.length, 'session')} not ${done}: ${errorFrom(failed[0].reason).message}`,
        { tone: 'fail' },
      );
}
