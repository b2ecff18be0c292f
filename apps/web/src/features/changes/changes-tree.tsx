import { useMemo, useState, type KeyboardEvent } from 'react';
import { Check } from 'lucide-react';
import { SearchField } from '@/components/ui/search-field';
import { TreeButton } from '@/components/ui/tree-button';
import { VirtualList } from '@/components/ui/virtual-list';
import { buildTree, visibleRows, type TreeNode, type TreeRow } from '@/lib/file-tree';
import { toggled } from '@/lib/toggled';
import type { DiffedFile } from './diffed-files';
import { viewedMark } from './decisions';

interface ChangesTreeProps {
  /** All changed files. */
  files: readonly DiffedFile[];
  /** Those that match the filter: the files of the tree. */
  matching: readonly DiffedFile[];
  filter: string | undefined;
  onFilter(filter: string | undefined): void;
  /** The `viewedMark`s of viewed files; undefined if the changes cannot be reviewed. */
  viewed: ReadonlySet<string> | undefined;
  shown: string | null;
  onShow(path: string): void;
  onViewed(file: DiffedFile): void;
}

/** The tree of changed files, beside the diff. */
export function ChangesTree({
  files,
  matching,
  filter,
  onFilter,
  viewed,
  shown,
  onShow,
  onViewed,
}: ChangesTreeProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const byPath = useMemo(() => new Map(files.map((file) => [file.path, file])), [files]);
  const rows = useMemo(() => {
    const tree = buildTree(matching.map(({ path }) => ({ path, kind: 'file' })));
    const open = new Set(foldersIn(tree).filter((path) => filter || !folded.has(path)));
    return visibleRows(tree, open);
  }, [matching, filter, folded]);
  const isViewed = (path: string): boolean => {
    const file = byPath.get(path);
    return file !== undefined && viewed?.has(viewedMark(file)) === true;
  };
  const toggle = ({ node: { kind, path } }: TreeRow) => {
    if (kind !== 'folder') return onShow(path);
    setFolded(toggled(folded, path));
  };
  const onKeyDown = (event: KeyboardEvent, path: string) => {
    const file = byPath.get(path);
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key !== 'v' || !plain || !viewed || !file) return;
    event.preventDefault();
    event.stopPropagation();
    onViewed(file);
  };
  return (
    <nav
      aria-label="Changed files"
      className="flex w-56 shrink-0 flex-col border-r max-md:hidden @max-[600px]:hidden"
    >
      <div className="shrink-0 space-y-1 border-b p-1.5">
        <SearchField
          label="Filter files"
          placeholder="Filter files"
          value={filter}
          onChange={onFilter}
        />
        {viewed && (
          <p className="px-1 text-xs text-faint tabular-nums" title="V marks a file as viewed">
            {files.filter(({ path }) => isViewed(path)).length} of {files.length} viewed
          </p>
        )}
      </div>
      {rows.length === 0 ? (
        <p className="p-3 text-sm text-faint">No matches</p>
      ) : (
        <VirtualList
          items={rows}
          keyOf={pathOf}
          estimate={24}
          label="Tree of changed files"
          className="min-h-0 flex-1 overflow-y-auto py-1"
          render={(row) => {
            const { path } = row.node;
            const file = byPath.get(path);
            return (
              <TreeButton
                row={row}
                selected={path === shown}
                onClick={() => toggle(row)}
                onKeyDown={(event) => onKeyDown(event, path)}
              >
                {file && <FileFigures file={file} viewed={isViewed(path)} />}
              </TreeButton>
            );
          }}
        />
      )}
    </nav>
  );
}

function FileFigures({ file, viewed }: { file: DiffedFile; viewed: boolean }) {
  return (
    <span className="ml-auto flex shrink-0 items-center gap-1 text-xs tabular-nums">
      {viewed && <Check size={12} role="img" aria-label="viewed" className="text-muted" />}
      <span className="text-pass">+{file.added}</span>
      <span className="text-fail">−{file.removed}</span>
    </span>
  );
}

const pathOf = ({ node: { path } }: TreeRow): string => path;

const foldersIn = (nodes: readonly TreeNode[]): string[] =>
  nodes.flatMap(({ kind, path, children }) =>
    kind === 'folder' ? [path, ...foldersIn(children)] : [],
  );
