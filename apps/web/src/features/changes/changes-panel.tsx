import { Columns2, Download, GitPullRequestArrow, ListTree } from 'lucide-react';
import { numberText, pluralText, visibleText } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty, Loading } from '@/components/ui/empty';
import { Select } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { FilesFailed } from '@/features/session-files/files-failed';
import type { LogView } from '@/features/session-log/log-view';
import { useChosen, usePanelLinks } from '@/lib/panel-links';
import { askPublish } from '@/features/session-controls/publish-request';
import { useIsPast, useSessionId, useView } from '@/features/session-log/session-context';
import { useSummary } from '@/lib/summaries';
import { downloadFile } from '@/lib/download-file';
import { usePreferences } from '@/lib/preferences';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import type { DiffedFile } from './diffed-files';
import { ChangedFiles } from './changed-files';
import { ReviewBar } from './review-bar';
import { useChanges } from './use-changes';

const mostSteps = 200;

/** The changes of the session or one step; the user accepts, rejects or comments on each hunk. */
export function ChangesPanel() {
  const session = useSessionId();
  const past = useIsPast();
  const readOnly = useReadOnly();
  const decides = !past && !readOnly;
  const commits = useView((view) => view.commits);
  const [step, setStep] = useStep();
  const { diff, files, range, commit } = useChanges(step);
  if (commit === null)
    return (
      <Empty title="No changes yet">
        Each change to a file appears here as a diff. You can accept it, reject it with a reason, or
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
              {visibleText(event.message)}
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
        {decides && <PublishButton />}
      </div>
      {diff.isPending && <Loading what="the changes" />}
      {diff.isError && <FilesFailed error={diff.error} retry={() => void diff.refetch()} />}
      {diff.data && !files.length && <Empty title="No difference">The files are unchanged.</Empty>}
      {files.length > 0 && (
        <ChangedFiles
          // Folded files and drafts are reset when another step is chosen.
          key={step}
          files={files}
          range={range}
          commit={commit}
          decides={decides && step === null}
        />
      )}
      {decides && <ReviewBar />}
    </div>
  );
}

function PublishButton() {
  const summary = useSummary(useSessionId());
  return (
    <Button small disabled={!summary} onClick={() => askPublish(summary)}>
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
      label={split ? 'Show unified' : 'Show side by side'}
      icon={Columns2}
      pressed={split}
      className="size-6 max-md:hidden"
      onClick={() => set({ splitDiff: !split })}
    />
  );
}

function Totals({ files }: { files: readonly DiffedFile[] }) {
  const sum = (of: (file: DiffedFile) => number) => files.reduce((all, file) => all + of(file), 0);
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

/** The newest steps and the displayed one: a long session has thousands. */
function listedSteps(commits: LogView['commits'], step: string | null) {
  const newest = [...commits].slice(-mostSteps).toReversed();
  const shown = step === null ? undefined : commits.get(step);
  return step === null || !shown || newest.some(([call]) => call === step)
    ? newest
    : [...newest, [step, shown] as const];
}

/** The call whose changes are shown; links in the chat also select it. */
function useStep() {
  const target = usePanelLinks((links) => links.commit);
  const commits = useView((view) => view.commits);
  const callOf = ({ commit }: { commit: string }): string | null =>
    [...commits].find(([, event]) => event.args.commit === commit)?.[0] ?? null;
  return useChosen<string | null, NonNullable<typeof target>>(target, callOf, null);
}
