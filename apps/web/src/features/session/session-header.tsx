import { memo } from 'react';
import { clsx } from 'clsx';
import {
  mountMark,
  mountWords,
  countText,
  dollarsText,
  durationText,
  visibleText,
  type SessionSummary,
} from '@belay/protocol';
import {
  GitFork,
  GitPullRequestArrow,
  HardDrive,
  MoreHorizontal,
  Pause,
  Play,
  RotateCcw,
  Share,
  Square,
} from 'lucide-react';
import { ConnectionStatus } from '@/components/connection-status';
import { Notices } from '@/components/notices';
import { Wordmark } from '@/components/top-bar';
import { LivePullRequestLink, PullRequestLink } from '@/components/pull-request-link';
import { Button } from '@/components/ui/button';
import { IconButton } from '@/components/ui/icon-button';
import { AgentLabel } from '@/components/ui/agent-label';
import { MachineLabel } from '@/components/ui/machine-label';
import { Menu, type MenuItem } from '@/components/ui/menu';
import { StateDot } from '@/components/ui/state-dot';
import { askPublish } from '@/features/session-controls/publish-request';
import { sessionActions } from '@/features/session-controls/session-actions';
import {
  runControl,
  sessionControls,
  type SessionControl,
} from '@/features/session-controls/session-controls';
import { useSessionContext } from '@/features/session-log/session-context';
import { askShare } from '@/features/session-controls/share-request';
import { useWorkSeconds } from '@/features/session-log/use-session-time';
import { summaryNow, useSessionState, useSummary, useSummaryPart, useTitle } from '@/lib/summaries';
import { useReadOnly } from '@/lib/role';
import { usePhone } from '@/lib/use-phone';
import { recorded } from '@/lib/server';
import { askForkHere } from './ask-fork-here';
import { BegunBy } from './begun-by';
import { SettingChips } from './setting-chips';

export function SessionHeader() {
  const readOnly = useReadOnly();
  const { id } = useSessionContext();
  const title = useTitle(id);
  const phone = usePhone();
  const task = useSummaryPart(id, taskOf);
  return (
    <header className="flex h-12 shrink-0 items-center gap-3 border-b bg-panel px-4 max-md:px-3">
      <Wordmark short />
      <span aria-hidden className="h-4 w-px bg-line-strong max-md:hidden" />
      <div className="flex min-w-0 flex-1 items-center gap-3">
        <p className="min-w-0 flex-1 truncate font-medium" title={task && visibleText(task)}>
          {title}
        </p>
        <ConnectionStatus />
        <Figures />
      </div>
      <Notices />
      {!readOnly && !phone && <SettingChips />}
      {!readOnly && <Controls id={id} />}
      {readOnly && (
        <span className="text-sm text-faint">{recorded ? 'recording' : 'view only'}</span>
      )}
    </header>
  );
}

const taskOf = ({ task }: SessionSummary): string => task;

function Figures() {
  const { id } = useSessionContext();
  const summary = useSummary(id);
  const worked = useWorkSeconds();
  const readOnly = useReadOnly();
  if (!summary) return null;
  const { budgets, agent } = summary;
  // Nothing of an agent that its user signs in to is counted.
  const isCounted = agent?.login === undefined;
  return (
    <div className="flex items-center gap-3 text-sm text-muted tabular-nums">
      <StateDot state={summary.state} />
      <BegunBy session={summary} />
      {agent && <AgentLabel agent={agent} />}
      {summary.machine && <MachineLabel machine={summary.machine} />}
      {summary.mounts.length > 0 && <HostFolders mounts={summary.mounts} />}
      {summary.sandbox === 'root' && (
        <span className="max-md:hidden" title="System packages can be installed in this sandbox">
          root
        </span>
      )}
      {readOnly ? (
        <PullRequestLink session={summary} className="max-md:hidden" />
      ) : (
        <LivePullRequestLink session={summary} className="max-md:hidden" />
      )}
      {isCounted && (
        <>
          <span className="max-lg:hidden">
            step {summary.steps}
            {budgets.steps !== null && <span className="text-faint">/{budgets.steps}</span>}
          </span>
          <span className="max-md:hidden" title={`${countText(summary.tokens)} tokens`}>
            {dollarsText(summary.dollars)}
            {budgets.dollars !== null && <span className="text-faint">/{budgets.dollars}</span>}
          </span>
        </>
      )}
      <span className="max-lg:hidden" title="Time at work, without pauses and waits for you">
        {durationText(worked)}
      </span>
    </div>
  );
}

/** The host folders the agent can access; amber if any is writable. */
function HostFolders({ mounts }: Pick<SessionSummary, 'mounts'>) {
  // Writable folders first: they matter most.
  const [first, ...others] = mounts.toSorted((a, b) => Number(a.readOnly) - Number(b.readOnly));
  if (!first) return null;
  const isWritable = mounts.some(({ readOnly }) => !readOnly);
  const words = `Host folders: ${mounts.map(mountWords).join('; ')}`;
  return (
    <span
      role="img"
      aria-label={words}
      title={words}
      className={clsx('flex min-w-0 items-center gap-1', isWritable && 'text-amber')}
    >
      <HardDrive size={13} aria-hidden className="shrink-0" />
      <span className="truncate max-lg:hidden">
        {mountMark(first)}
        {others.length > 0 && ` +${others.length}`}
      </span>
    </span>
  );
}

const { pause, resume, stop, restart } = sessionControls;

const iconControls = [
  { control: resume, command: 'session.resume', icon: Play },
  { control: pause, command: 'session.pause', icon: Pause },
  { control: stop, command: 'session.stop', icon: Square },
];

/** Rerenders only when the state changes; the summary is looked up on click. */
const Controls = memo(function Controls({ id }: { id: string }) {
  const context = useSessionContext();
  const state = useSessionState(id);
  if (!state) return null;
  const offered = ({ offered }: SessionControl) => offered({ state, archived: false });
  return (
    <div className="flex items-center gap-0.5">
      {iconControls
        .filter(({ control }) => offered(control))
        .map(({ control, command, icon }) => (
          <IconButton
            key={command}
            label={control.label}
            command={command}
            icon={icon}
            onClick={() => runControl(control, summaryNow(id))}
            className="max-md:size-9"
          />
        ))}
      {offered(restart) && (
        <Button small onClick={() => runControl(restart, summaryNow(id))}>
          <RotateCcw size={13} aria-hidden /> {restart.label}
        </Button>
      )}
      <IconButton
        label="Fork from here"
        command="session.fork"
        icon={GitFork}
        className="max-md:hidden"
        onClick={() => askForkHere(context)}
      />
      <IconButton
        label="Publish changes"
        icon={GitPullRequestArrow}
        className="max-md:hidden"
        onClick={() => askPublish(summaryNow(id))}
      />
      <IconButton
        label="Share"
        icon={Share}
        className="max-md:hidden"
        onClick={() => askShare(summaryNow(id))}
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
