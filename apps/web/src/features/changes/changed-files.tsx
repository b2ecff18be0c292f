import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { VisibleText } from '@/components/ui/visible-text';
import { useSessionId } from '@/features/session-log/session-context';
import { usePreferences } from '@/lib/preferences';
import type { DiffedFile } from './diffed-files';
import { ChangesTree } from './changes-tree';
import { useViewed, viewedMark } from './decisions';
import { DiffList } from './diff-list';
import type { DiffRow } from './diff-rows';
import { FileRow } from './file-row';
import { GapRow } from './gap-row';
import { CodeLines, HunkView, type HunkDraft } from './hunk-view';
import { ThreadView } from './thread-view';
import { useDiffRows, type DiffRowsOptions } from './use-diff-rows';

interface ChangedFilesProps extends Omit<DiffRowsOptions, 'filter'> {
  decides: boolean;
}

/** The changed files with their hunks; only visible rows are rendered. */
export function ChangedFiles({ decides, ...options }: ChangedFilesProps) {
  const { files, fold } = options;
  const hasTree = usePreferences((state) => state.changesTree) && files.length > 1;
  const [filter, setFilter] = useState<string>();
  const { matching, rows, isWhole, see, toggleWhole, showMore } = useDiffRows({
    ...options,
    // Without the tree, nothing shows that there is a filter, so it does not count.
    filter: hasTree ? filter : undefined,
  });
  const [drafts, setDrafts] = useState<ReadonlyMap<string, HunkDraft | undefined>>(new Map());
  const [target, setTarget] = useState<{ path: string } | null>(null);
  const { marks, view } = useViewedMarks(fold);
  const isChanged = (path: string) => files.some((file) => file.path === path);
  const render = (row: DiffRow) => {
    if (row.kind === 'note') return <p className="px-3 py-2 text-sm text-faint">{row.text}</p>;
    if (row.kind === 'missing') return <MissingLines path={row.path} onSeen={see} />;
    if (row.kind === 'threads')
      return <OutdatedThreads row={row} isChanged={isChanged(row.path)} decides={decides} />;
    if (row.kind === 'file') {
      const { file, open } = row;
      return (
        <FileRow
          file={file}
          open={open}
          onToggle={() => fold(file.path, !open)}
          whole={isWhole(file.path)}
          onWhole={() => toggleWhole(file.path)}
          viewed={decides ? marks.has(viewedMark(file)) : undefined}
          onViewed={() => view(file)}
        />
      );
    }
    if (row.kind === 'gap')
      return (
        <GapRow
          gap={row.gap}
          isLast={row.isLast}
          state={row.state}
          onShow={(more) => showMore(row.path, row.gap.index, more)}
        />
      );
    if (row.kind === 'context') {
      const { path, whole, from, to } = row;
      return <CodeLines path={path} lines={whole} from={from} to={to} decides={decides} />;
    }
    const { diff, hunk, placed, from, to } = row;
    return (
      <HunkView
        file={diff}
        hunk={hunk}
        from={from}
        to={to}
        threads={placed}
        decides={decides}
        draft={drafts.get(hunk.raw)}
        onDraft={(draft) => setDrafts((now) => new Map(now).set(hunk.raw, draft))}
      />
    );
  };
  return (
    <div className="flex min-h-0 flex-1">
      {hasTree && (
        <ChangesTree
          files={files}
          matching={matching}
          filter={filter}
          onFilter={setFilter}
          viewed={decides ? marks : undefined}
          shown={target?.path ?? null}
          onShow={(path) => {
            setTarget({ path });
            fold(path, true);
          }}
          onViewed={view}
        />
      )}
      <DiffList rows={rows} target={target} render={render} />
    </div>
  );
}

/** Marking a file as viewed folds it; removing the mark unfolds it. */
function useViewedMarks(fold: (path: string, open: boolean) => void) {
  const session = useSessionId();
  const viewed = useViewed((state) => state.marks[session] ?? noMarks);
  const marks = useMemo(() => new Set(viewed), [viewed]);
  const view = (file: DiffedFile) => {
    const mark = viewedMark(file);
    useViewed.getState().toggle(session, mark);
    fold(file.path, marks.has(mark));
  };
  return { marks, view };
}

/** Stands for lines that are fetched once this is rendered. */
function MissingLines({ path, onSeen }: { path: string; onSeen(path: string): void }) {
  const seen = useEffectEvent(() => onSeen(path));
  useEffect(() => seen(), [path]);
  return <p className="px-3 py-2 text-sm text-faint">Loading lines…</p>;
}

interface OutdatedThreadsProps {
  row: Extract<DiffRow, { kind: 'threads' }>;
  /** Whether the file is still part of the changes. */
  isChanged: boolean;
  decides: boolean;
}

/** Comments whose lines are not part of the changes any more. */
function OutdatedThreads({ row, isChanged, decides }: OutdatedThreadsProps) {
  const { path, threads } = row;
  return (
    <div>
      {!isChanged && (
        <p className="px-3 pt-2 font-mono text-xs text-faint">
          <VisibleText text={path} /> has no changes now
        </p>
      )}
      {threads.map((thread) => (
        <ThreadView key={thread.id} thread={thread} outdated decides={decides} />
      ))}
    </div>
  );
}

const noMarks: readonly string[] = [];
