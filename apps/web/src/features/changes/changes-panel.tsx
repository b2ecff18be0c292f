import { useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Columns2, Download, GitPullRequestArrow, ListTree } from 'lucide-react';
import { isEnded, pluralText, numberText, type OperationOutput } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty, Loading } from '@/components/ui/empty';
import { Select } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { FilesFailed } from '@/features/session-log/files-failed';
import type { LogView } from '@/features/session-log/log-view';
import { useChosen, usePanelLinks } from '@/features/session-log/panel-links';
import { askPublish } from '@/features/session-controls/publish-request';
import { useIsPast, useSessionId, useView } from '@/features/session-log/session-context';
import { useSummary } from '@/features/session-log/summaries';
import { downloadFile } from '@/lib/download-file';
import { usePreferences } from '@/lib/preferences';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { changedFiles, type ChangedFile } from './changed-files';
import { ChangedFiles } from './changed-files-view';
import type { CommitRange } from './fetched-files';
import { ReviewBar } from './review-bar';

const mostSteps = 200;

type Diff = OperationOutput<'workspace.diff'>;

/** What the session, or one step of it, changed; the user accepts, rejects or comments each hunk. */
export function ChangesPanel() {
  const readOnly = useReadOnly();
  const session = useSessionId();
  const past = useIsPast();
  const commits = useView((view) => view.commits);
  const latest = useView((view) => view.lastCommit?.args.commit ?? null);
  const [step, setStep] = useStep();
  const shown = step ? commits.get(step) : undefined;
  const range: CommitRange = shown
    ? { ...(shown.args.parent && { from: shown.args.parent }), to: shown.args.commit }
    : past && latest
      ? { to: latest }
      : {};
  const diff = useQuery({
    queryKey: ['diff', session, range, latest],
    queryFn: () => changesOf(session, range),
    enabled: latest !== null,
    staleTime: Infinity,
    // Each commit has a diff of its own: of a long session only the last few are kept.
    gcTime: 15_000,
    placeholderData: (before) => before,
    retry: 0,
  });
  const files = useMemo(() => (diff.data ? changedFiles(diff.data) : []), [diff.data]);
  if (latest === null)
    return (
      <Empty title="No changes yet">
        Each change of a file appears here as a diff. You can accept it, reject it with a reason, or
        comment on it.
      </Empty>
    );
  return (
    <div className="flex h-full flex-col">
      <div className="flex h-9 shrink-0 items-center gap-2 border-b px-2">
        <Select
          aria-label="Which changes"
          className="h-6 w-auto max-w-72 min-w-24 shrink text-xs"
          value={step ?? ''}
          onChange={(event) => setStep(event.target.value || null)}
        >
          <option value="">The whole session</option>
          {listedSteps(commits, step).map(([call, event]) => (
            <option key={call} value={call}>
              {event.message}
            </option>
          ))}
        </Select>
        <Totals files={files} />
        {files.length > 1 && <TreeToggle />}
        <SplitToggle />
        <IconButton
          label="Save as a patch"
          icon={Download}
          className="size-6"
          onClick={() =>
            attempt(async () =>
              downloadFile(
                'changes.patch',
                (await client.sessions.patch(session)) as BlobPart,
                'text/x-diff',
              ),
            )
          }
        />
        {!past && !readOnly && <PublishButton />}
      </div>
      {diff.isPending && <Loading what="the changes" />}
      {diff.isError && <FilesFailed error={diff.error} retry={() => void diff.refetch()} />}
      {diff.data && !files.length && (
        <Empty title="No difference">The files are as they were.</Empty>
      )}
      {files.length > 0 && (
        <ChangedFiles
          // Folds and drafts belong to what is shown.
          key={step}
          files={files}
          range={range}
          commit={range.to ?? latest}
          decides={!past && !shown && !readOnly}
        />
      )}
      {!past && !readOnly && <ReviewBar />}
    </div>
  );
}

function PublishButton() {
  const summary = useSummary(useSessionId());
  return (
    <Button small disabled={!summary} onClick={() => summary && askPublish(summary)}>
      <GitPullRequestArrow size={12} aria-hidden /> Publish…
    </Button>
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
      label={split ? 'Show below each other' : 'Show side by side'}
      icon={Columns2}
      pressed={split}
      className="size-6 max-md:hidden"
      onClick={() => set({ splitDiff: !split })}
    />
  );
}

function Totals({ files }: { files: readonly ChangedFile[] }) {
  const sum = (of: (file: ChangedFile) => number) => files.reduce((all, file) => all + of(file), 0);
  return (
    <span className="flex flex-1 gap-2 truncate text-xs text-faint tabular-nums">
      {pluralText(files.length, 'file')}
      {files.length > 0 && (
        <span>
          <span className="text-pass">+{numberText(sum(({ added }) => added))}</span>{' '}
          <span className="text-fail">−{numberText(sum(({ removed }) => removed))}</span>
        </span>
      )}
    </span>
  );
}

/** Of a session whose sandbox has ended, the changes were kept as a patch. */
async function changesOf(session: string, range: { from?: string; to?: string }): Promise<Diff> {
  try {
    return await client.sessions.call(session, 'workspace.diff', range);
  } catch (error) {
    const { state } = await client.sessions.get(session);
    if (!isEnded(state) || Object.keys(range).length) throw error;
    const patch = await client.sessions.patch(session);
    return { diff: new TextDecoder().decode(patch), truncated: false, files: [] };
  }
}

/** The newest steps, and the one that is shown: a long session has thousands. */
function listedSteps(commits: LogView['commits'], step: string | null) {
  const newest = [...commits].slice(-mostSteps).toReversed();
  const shown = step === null ? undefined : commits.get(step);
  return step === null || !shown || newest.some(([call]) => call === step)
    ? newest
    : [...newest, [step, shown] as const];
}

/** The call whose changes are shown; a link of the chat chooses it. */
function useStep() {
  const target = usePanelLinks((links) => links.commit);
  const commits = useView((view) => view.commits);
  const callOf = ({ commit }: { commit: string }): string | null =>
    [...commits].find(([, event]) => event.args.commit === commit)?.[0] ?? null;
  return useChosen<string | null, NonNullable<typeof target>>(target, callOf, null);
}
