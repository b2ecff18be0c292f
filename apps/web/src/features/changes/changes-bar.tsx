import { useMemo } from 'react';
import {
  Columns2,
  Download,
  FoldVertical,
  GitPullRequestArrow,
  ListTree,
  Undo2,
  UnfoldVertical,
} from 'lucide-react';
import {
  labelOfCall,
  numberText,
  pluralText,
  visibleText,
  type ChangeTotal,
  type Event,
} from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Select } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { askUndoStep } from '@/features/session-controls/ask-undo';
import { askPublish } from '@/features/session-controls/publish-request';
import type { Commit, LogView } from '@/features/session-log/log-view';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { changesAreUndone } from '@/features/session-log/undone';
import { downloadFile } from '@/lib/download-file';
import { usePreferences } from '@/lib/preferences';
import { client } from '@/lib/server';
import { useSummary } from '@/lib/summaries';
import { attempt } from '@/lib/toasts';

const mostSteps = 200;

interface ChangesBarProps extends FoldAllProps {
  /** The call whose changes are shown; null for the whole session. */
  step: string | null;
  onStep(step: string | null): void;
  total: ChangeTotal | undefined;
  /** Whether the user can change something here. */
  decides: boolean;
  /** Whether more than one file is listed. */
  several: boolean;
}

/** What is shown of the changes and how, and what can be done with all of them. */
export function ChangesBar({ step, onStep, total, decides, several, ...folding }: ChangesBarProps) {
  const session = useSessionId();
  const savePatch = async () => {
    const patch = await client.sessions.patch(session);
    downloadFile('changes.patch', patch as BlobPart, 'text/x-diff');
  };
  return (
    <div className="flex h-9 shrink-0 items-center gap-2 border-b px-2">
      <StepSelect step={step} onChange={onStep} />
      <Totals total={total} />
      {several && <FoldAll {...folding} />}
      {several && <TreeToggle />}
      <SplitToggle />
      <IconButton
        label="Save as a patch"
        icon={Download}
        className="size-6"
        onClick={() => attempt(savePatch)}
      />
      {decides && <UndoButton step={step} />}
      {decides && <PublishButton />}
    </div>
  );
}

interface StepSelectProps {
  /** The call whose changes are shown; null for the whole session. */
  step: string | null;
  onChange(step: string | null): void;
}

function StepSelect({ step, onChange }: StepSelectProps) {
  const commits = useView((view) => view.commits);
  const isUndone = useIsUndone();
  const calls = useCalls();
  return (
    <Select
      aria-label="Which changes"
      className="h-6 w-auto max-w-72 min-w-24 shrink text-xs"
      value={step ?? ''}
      onChange={(event) => onChange(event.target.value || null)}
    >
      <option value="">The whole session</option>
      {listedSteps(commits, step).map(([call, event]) => (
        <option key={call} value={call}>
          {visibleText(stepText(calls.get(call), event))}
          {isUndone(call) ? ' (undone)' : ''}
        </option>
      ))}
    </Select>
  );
}

/** The calls of the conversation, by id. */
function useCalls(): ReadonlyMap<string, Event> {
  const entries = useView((view) => view.entries);
  return useMemo(
    () =>
      new Map(
        entries.flatMap(({ kind, event }) =>
          kind === 'call' && event.id !== undefined ? [[event.id, event] as const] : [],
        ),
      ),
    [entries],
  );
}

/** What a step did, in the words of its card in the chat. */
function stepText(call: Event | undefined, commit: Commit): string {
  if (!call) return commit.message.replace(/^Recorded /, 'Changes to ');
  const { verb, subject } = labelOfCall(call, commit);
  return [call.source === 'user' && 'You ·', verb, subject].filter(Boolean).join(' ');
}

function UndoButton({ step }: { step: string | null }) {
  const session = useSessionId();
  const shown = useView(({ commits }) => (step === null ? undefined : commits.get(step)));
  const undone = useView((view) => step !== null && changesAreUndone(view, step));
  if (!shown || undone) return null;
  return (
    <Button small onClick={() => attempt(() => askUndoStep(session, shown))}>
      <Undo2 size={12} aria-hidden /> Undo this step…
    </Button>
  );
}

/** Whether the changes of a call were undone. */
function useIsUndone(): (call: string) => boolean {
  const commits = useView((view) => view.commits);
  const results = useView((view) => view.results);
  const rewinds = useView((view) => view.rewinds);
  const undos = useView((view) => view.undos);
  return (call) => changesAreUndone({ commits, results, rewinds, undos }, call);
}

function PublishButton() {
  const summary = useSummary(useSessionId());
  return (
    <Button small disabled={!summary} onClick={() => askPublish(summary)}>
      <GitPullRequestArrow size={12} aria-hidden /> Publish…
    </Button>
  );
}

interface FoldAllProps {
  /** Whether a file is unfolded. */
  open: boolean;
  onFold(open: boolean): void;
}

function FoldAll({ open, onFold }: FoldAllProps) {
  return (
    <IconButton
      label={open ? 'Fold all files' : 'Unfold all files'}
      icon={open ? FoldVertical : UnfoldVertical}
      className="size-6"
      onClick={() => onFold(!open)}
    />
  );
}

function TreeToggle() {
  const shown = usePreferences((state) => state.changesTree);
  const set = usePreferences((state) => state.set);
  return (
    <IconButton
      label={shown ? 'Hide the file tree' : 'Show the file tree'}
      icon={ListTree}
      pressed={shown}
      className="size-6 max-md:hidden @max-[600px]:hidden"
      onClick={() => set({ changesTree: !shown })}
    />
  );
}

function SplitToggle() {
  const split = usePreferences((state) => state.splitDiff);
  const set = usePreferences((state) => state.set);
  return (
    <IconButton
      label={split ? 'Show unified' : 'Show side by side'}
      icon={Columns2}
      pressed={split}
      className="size-6 max-md:hidden"
      onClick={() => set({ splitDiff: !split })}
    />
  );
}

function Totals({ total }: { total: ChangeTotal | undefined }) {
  if (!total) return <span className="flex-1" />;
  return (
    <span className="flex flex-1 gap-2 truncate text-xs text-faint tabular-nums">
      {pluralText(total.files, 'file')}
      {total.files > 0 && (
        <span>
          <span className="text-pass">+{numberText(total.added)}</span>{' '}
          <span className="text-fail">−{numberText(total.removed)}</span>
        </span>
      )}
    </span>
  );
}

/** The newest steps and the displayed one: a long session has thousands. */
function listedSteps(commits: LogView['commits'], step: string | null) {
  const newest = [...commits].slice(-mostSteps).toReversed();
  const shown = step === null ? undefined : commits.get(step);
  return step === null || !shown || newest.some(([call]) => call === step)
    ? newest
    : [...newest, [step, shown] as const];
}
