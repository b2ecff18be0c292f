import { pluralText } from '@belay/protocol';
import { Empty, Loading } from '@/components/ui/empty';
import { FilesFailed } from '@/features/session-files/files-failed';
import { useIsPast, useView } from '@/features/session-log/session-context';
import { useChosen, usePanelLinks } from '@/lib/panel-links';
import { useReadOnly } from '@/lib/role';
import { ChangedFiles } from './changed-files';
import { ChangesBar } from './changes-bar';
import { ReviewBar } from './review-bar';
import { useChanges } from './use-changes';
import { isOpen, useFolds } from './use-folds';

/** The changes of the session or one step; the user accepts, rejects or comments on each hunk. */
export function ChangesPanel() {
  const past = useIsPast();
  const readOnly = useReadOnly();
  const decides = !past && !readOnly;
  const [step, setStep] = useStep();
  const { diff, files, total, range, commit } = useChanges(step);
  const { folds, fold, foldAll } = useFolds(step);
  if (commit === null)
    return (
      <Empty title="No changes yet">
        Each change to a file appears here as a diff. You can accept it, reject it with a reason, or
        comment on it.
      </Empty>
    );
  return (
    <div className="flex h-full flex-col">
      <ChangesBar
        step={step}
        onStep={setStep}
        total={total}
        decides={decides}
        several={files.length > 1}
        open={files.some((file) => isOpen(file, folds))}
        onFold={foldAll}
      />
      {diff.isPending && <Loading what="the changes" />}
      {diff.isError && <FilesFailed error={diff.error} retry={() => void diff.refetch()} />}
      {diff.data && !files.length && <Empty title="No difference">The files are unchanged.</Empty>}
      {files.length > 0 && (
        <ChangedFiles
          // Expanded lines and drafts are reset when another step is chosen.
          key={step}
          files={files}
          folds={folds}
          fold={fold}
          range={range}
          commit={commit}
          decides={decides && step === null}
        />
      )}
      {total && total.files > files.length && (
        <p className="shrink-0 border-t px-3 py-1.5 text-sm text-faint">
          {pluralText(total.files - files.length, 'more file')} not listed. Save the patch to see
          all.
        </p>
      )}
      {decides && <ReviewBar />}
    </div>
  );
}

/** The call whose changes are shown; links in the chat also select it. */
function useStep() {
  const target = usePanelLinks((links) => links.commit);
  const commits = useView((view) => view.commits);
  const callOf = ({ commit }: { commit: string }): string | null =>
    [...commits].find(([, event]) => event.args.commit === commit)?.[0] ?? null;
  return useChosen<string | null, NonNullable<typeof target>>(target, callOf, null);
}
