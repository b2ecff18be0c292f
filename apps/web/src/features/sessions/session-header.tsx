import { isEnded, type SessionSummary } from '@belay/protocol';
import { GitFork, MoreHorizontal, Pause, Play, RotateCcw, Share, Square } from 'lucide-react';
import { Wordmark } from '@/app/top-bar';
import { Button } from '@/components/ui/button';
import { IconButton } from '@/components/ui/icon-button';
import { Menu } from '@/components/ui/menu';
import { StateDot } from '@/components/ui/state-dot';
import { useNow } from '@/lib/clock';
import { count, dollars, duration } from '@/lib/format';
import { client, recorded } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { useReadOnly } from '@/lib/role';
import { shareSession } from '../timeline/share';
import { Connection } from './connection';
import { fork, sessionActions } from './session-actions';
import { useSessionContext } from './session-context';
import { useSummary } from './queries';

export function SessionHeader() {
  const readOnly = useReadOnly();
  const { id } = useSessionContext();
  const summary = useSummary(id);
  return (
    <header className="flex h-12 shrink-0 items-center gap-3 border-b bg-panel px-4 max-md:px-3">
      <Wordmark short />
      <span aria-hidden className="h-4 w-px bg-line-strong max-md:hidden" />
      <p className="min-w-0 flex-1 truncate font-medium" title={summary?.task}>
        {summary?.title}
      </p>
      <Connection />
      {summary && <Figures summary={summary} />}
      {summary && !readOnly && <Controls summary={summary} />}
      {readOnly && (
        <span className="text-sm text-faint">{recorded ? 'a recording' : 'you watch'}</span>
      )}
    </header>
  );
}

function Figures({ summary }: { summary: SessionSummary }) {
  const ended = isEnded(summary.state);
  const now = useNow(1_000, !ended);
  const end = ended ? Date.parse(summary.updated) : now;
  const { budgets } = summary;
  return (
    <div className="flex items-center gap-3 text-sm text-muted tabular-nums">
      <StateDot state={summary.state} />
      {summary.sandbox === 'root' && (
        <span className="max-md:hidden" title="System packages can be installed in this sandbox">
          root
        </span>
      )}
      <span className="max-lg:hidden">
        step {summary.steps}
        {budgets.steps !== null && <span className="text-faint">/{budgets.steps}</span>}
      </span>
      <span className="max-md:hidden" title={`${count(summary.tokens)} tokens`}>
        {dollars(summary.dollars)}
        {budgets.dollars !== null && <span className="text-faint">/{budgets.dollars}</span>}
      </span>
      <span className="max-lg:hidden">{duration((end - Date.parse(summary.created)) / 1_000)}</span>
    </div>
  );
}

function Controls({ summary }: { summary: SessionSummary }) {
  const { id, state } = summary;
  const ended = isEnded(state);
  const act = (name: 'pause' | 'resume' | 'stop' | 'restart') => () =>
    attempt(() => client.sessions[name](id));
  return (
    <div className="flex items-center gap-0.5">
      {!ended && state === 'paused' && (
        <IconButton label="Resume" icon={Play} onClick={act('resume')} className="max-md:size-9" />
      )}
      {!ended && state !== 'paused' && (
        <IconButton label="Pause" icon={Pause} onClick={act('pause')} className="max-md:size-9" />
      )}
      {ended ? (
        <Button small onClick={act('restart')}>
          <RotateCcw size={13} aria-hidden /> Restart
        </Button>
      ) : (
        <IconButton label="Stop" icon={Square} onClick={act('stop')} className="max-md:size-9" />
      )}
      <IconButton
        label="Fork from here"
        icon={GitFork}
        className="max-md:hidden"
        onClick={() => attempt(() => fork(summary, summary.lastSeq))}
      />
      <IconButton
        label="Share as one file"
        icon={Share}
        className="max-md:hidden"
        onClick={() => attempt(() => shareSession(summary))}
      />
      <Menu
        trigger={<IconButton label="More" icon={MoreHorizontal} />}
        items={sessionActions(summary, false)}
      />
    </div>
  );
}
