import { useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { isEnded, type OperationOutput, type workspaceOperations } from '@belay/protocol';
import { Empty, Loading } from '@/components/ui/empty';
import { Select } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { download } from '@/lib/download';
import { plural } from '@/lib/format';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { useReadOnly } from '@/lib/role';
import { FilesFailed } from '../sessions/asleep';
import { useChosen, usePlaces } from '../sessions/places';
import type { LogView } from '../sessions/log-view';
import { useIsPast, useSessionId, useView } from '../sessions/session-context';
import { parseDiff } from './diff';
import { FileChanges } from './file-changes';

const mostSteps = 200;

type Diff = OperationOutput<(typeof workspaceOperations)['workspace.diff']>;

/** What the session, or one step of it, changed; a person accepts, rejects or comments each hunk. */
export function ChangesPanel() {
  const readOnly = useReadOnly();
  const session = useSessionId();
  const past = useIsPast();
  const commits = useView((view) => view.commits);
  const latest = useView((view) => view.lastCommit?.args.commit ?? null);
  const [step, setStep] = useStep();
  const shown = step ? commits.get(step) : undefined;
  const range = shown
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
  const files = useMemo(() => parseDiff(diff.data?.diff ?? ''), [diff.data]);
  if (latest === null)
    return (
      <Empty title="Nothing changed yet">
        Each change of a file appears here as a diff. You can accept it, reject it with a reason, or
        comment on it.
      </Empty>
    );
  return (
    <div className="flex h-full flex-col">
      <div className="flex h-9 shrink-0 items-center gap-2 border-b px-2">
        <Select
          aria-label="Which changes"
          className="h-6 w-auto max-w-72 text-xs"
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
        <span className="flex-1 truncate text-xs text-faint">{plural(files.length, 'file')}</span>
        <IconButton
          label="Save as a patch"
          icon={Download}
          className="size-6"
          onClick={() =>
            attempt(async () =>
              download(
                'changes.patch',
                (await client.sessions.patch(session)) as BlobPart,
                'text/x-diff',
              ),
            )
          }
        />
      </div>
      <div tabIndex={0} role="region" aria-label="Diff" className="min-h-0 flex-1 overflow-y-auto">
        {diff.isPending && <Loading what="the changes" />}
        {diff.isError && <FilesFailed error={diff.error} retry={() => void diff.refetch()} />}
        {diff.data && !files.length && (
          <Empty title="No difference">The files are as they were.</Empty>
        )}
        {files.map((file) => (
          <FileChanges key={file.path} file={file} decides={!past && !shown && !readOnly} />
        ))}
        {diff.data?.truncated && (
          <p className="p-3 text-sm text-faint">
            The rest is too large to show. Save the patch to see all of it.
          </p>
        )}
      </div>
    </div>
  );
}

/** Of a session whose sandbox has ended, the changes were kept as a patch. */
async function changesOf(session: string, range: { from?: string; to?: string }): Promise<Diff> {
  try {
    return (await client.sessions.call(session, 'workspace.diff', range)) as Diff;
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
  const place = usePlaces((places) => places.step);
  const commits = useView((view) => view.commits);
  const callOf = ({ commit }: { commit: string }): string | null =>
    [...commits].find(([, event]) => event.args.commit === commit)?.[0] ?? null;
  return useChosen<string | null, NonNullable<typeof place>>(place, callOf, null);
}
