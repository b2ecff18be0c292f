import { memo } from 'react';
import { isEnded, type SessionSummary } from '@belay/protocol';
import { GitFork, MoreHorizontal, Pause, Play, RotateCcw, Share, Square } from 'lucide-react';
import { Wordmark } from '@/app/top-bar';
import { Button } from '@/components/ui/button';
import { IconButton } from '@/components/ui/icon-button';
import { Menu, type MenuItem } from '@/components/ui/menu';
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
import { summaryNow, useSessionState, useSummary, useSummaryPart, useTitle } from './queries';

export function SessionHeader() {
  const readOnly = useReadOnly();
  const { id } = useSessionContext();
  const title = useTitle(id);
  const task = useSummaryPart(id, taskOf);
  return (
    <header className="flex h-12 shrink-0 items-center gap-3 border-b bg-panel px-4 max-md:px-3">
      <Wordmark short />
      <span aria-hidden className="h-4 w-px bg-line-strong max-md:hidden" />
      <p className="min-w-0 flex-1 truncate font-medium" title={task}>
        {title}
      </p>
      <Connection />
      <Figures />
      {!readOnly && <Controls id={id} />}
      {readOnly && (
        <span className="text-sm text-faint">{recorded ? 'a recording' : 'you watch'}</span>
      )}
    </header>
  );
}

const taskOf = ({ task }: SessionSummary): string => task;

function Figures() {
  const { id } = useSessionContext();
  const summary = useSummary(id);
  const ended = !summary || isEnded(summary.state);
  const now = useNow(1_000, !ended);
  if (!summary) return null;
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

/** Drawn again only with the state; the summary is looked up when something is pressed. */
const Controls = memo(function Controls({ id }: { id: string }) {
  const state = useSessionState(id);
  if (!state) return null;
  const ended = isEnded(state);
  const withSummary = (run: (summary: SessionSummary) => Promise<unknown>) => () => {
    const summary = summaryNow(id);
    if (summary) attempt(() => run(summary));
  };
  const act = (name: 'pause' | 'resume' | 'stop' | 'restart') => () =>
    attempt(() => client.sessions[name](id));
  return (
    <div className="flex items-center gap-0.5">
      {!ended && state === 'paused' && (
        <IconButton
          label="Resume"
          command="session.resume"
          icon={Play}
          onClick={act('resume')}
          className="max-md:size-9"
        />
      )}
      {!ended && state !== 'paused' && (
        <IconButton
          label="Pause"
          command="session.pause"
          icon={Pause}
          onClick={act('pause')}
          className="max-md:size-9"
        />
      )}
      {ended ? (
        <Button small onClick={act('restart')}>
          <RotateCcw size={13} aria-hidden /> Restart
        </Button>
      ) : (
        <IconButton
          label="Stop"
          command="session.stop"
          icon={Square}
          onClick={act('stop')}
          className="max-md:size-9"
        />
      )}
      <IconButton
        label="Fork from here"
        icon={GitFork}
        className="max-md:hidden"
        onClick={withSummary((summary) => fork(summary, summary.lastSeq))}
      />
      <IconButton
        label="Share as one file"
        icon={Share}
        className="max-md:hidden"
        onClick={withSummary(shareSession)}
      />
      <Menu
        trigger={<IconButton label="More" icon={MoreHorizontal} />}
        items={() => actionsOf(id)}
      />
    </div>
  );
});

const actionsOf = (id: string): readonly (MenuItem | null)[] => {
  const summary = summaryNow(id);
  return summary ? sessionActions(summary, false) : [];
};
