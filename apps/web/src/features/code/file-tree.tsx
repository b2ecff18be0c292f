import { useMemo, useState, type DragEvent } from 'react';
import { CopyMinus, FilePlus, Search, Upload } from 'lucide-react';
import { Empty, Loading } from '@/components/ui/empty';
import { IconButton } from '@/components/ui/icon-button';
import { VirtualList } from '@/components/ui/virtual-list';
import { useFiles } from '@/features/session-files/files-query';
import { useIsPast, useSessionId } from '@/features/session-log/session-context';
import { chooseFiles } from '@/lib/choose-files';
import { useReadOnly } from '@/lib/role';
import { fileActions, type FileActions } from './file-actions';
import { FileSearch } from './file-search';
import { buildTree, foldersAbove, parentOf, visibleRows, type TreeRow } from '@/lib/file-tree';
import { toggled } from '@/lib/toggled';
import { TreeLine } from './tree-line';

const pathOf = (row: TreeRow): string => row.node.path;

interface FileTreeProps {
  selected: string | null;
  onOpen(path: string): void;
  /** The user renamed, moved or deleted a file or folder. */
  onGone(path: string): void;
}

/** The files of the workspace, with a search. */
export function FileTree({ selected, onOpen, onGone }: FileTreeProps) {
  const session = useSessionId();
  const past = useIsPast();
  const fixed = useReadOnly() || past;
  const files = useFiles();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<string | null>(null);
  const [searching, setSearching] = useState(false);
  if (selected && selected !== opened) {
    setOpened(selected);
    setOpen(new Set([...open, ...foldersAbove(selected)]));
  }
  const tree = useMemo(() => buildTree(files.data?.entries ?? []), [files.data]);
  const rows = useMemo(() => visibleRows(tree, open), [tree, open]);
  const changed = () => void files.refetch();
  const actions = fileActions(session, { changed, gone: onGone });
  const toggle = ({ node }: TreeRow) => {
    if (node.kind !== 'folder') return onOpen(node.path);
    setOpen(toggled(open, node.path));
  };
  if (!files.isEnabled)
    return <Empty title="No files yet">They appear here once the sandbox has started.</Empty>;
  if (files.isPending) return <Loading what="the files" />;
  return (
    <div
      className="flex h-full flex-col"
      onDragOver={(event) => !fixed && bringsFiles(event) && event.preventDefault()}
      onDrop={(event) => {
        if (fixed || !bringsFiles(event)) return;
        event.preventDefault();
        actions.upload('', [...event.dataTransfer.files]);
      }}
    >
      <TreeBar
        actions={fixed ? null : actions}
        folder={selected ? parentOf(selected) : ''}
        searching={searching}
        onSearch={() => setSearching(!searching)}
        onCollapse={() => setOpen(new Set())}
      />
      <div className="min-h-0 flex-1">
        {searching ? (
          <FileSearch onClose={() => setSearching(false)} />
        ) : rows.length ? (
          <VirtualList
            items={rows}
            keyOf={pathOf}
            estimate={24}
            label="Files"
            className="h-full overflow-auto py-1"
            render={(row) => (
              <TreeLine
                row={row}
                selected={row.node.path === selected}
                actions={actions}
                fixed={fixed}
                onToggle={() => toggle(row)}
              />
            )}
          />
        ) : (
          <Empty title="The workspace is empty">Files appear here as the agent creates them.</Empty>
        )}
      </div>
    </div>
  );
}

interface TreeBarProps {
  /** Null if files cannot be changed. */
  actions: FileActions | null;
  /** The folder for new files and uploads. */
  folder: string;
  searching: boolean;
  onSearch(): void;
  onCollapse(): void;
}

function TreeBar({ actions, folder, searching, onSearch, onCollapse }: TreeBarProps) {
  return (
    <div className="flex h-8 shrink-0 items-center gap-0.5 border-b px-1.5">
      <IconButton
        label="Search in files"
        icon={Search}
        className="size-6"
        pressed={searching}
        onClick={onSearch}
      />
      {actions && (
        <>
          <IconButton
            label="New file"
            icon={FilePlus}
            className="size-6"
            onClick={() => actions.create(folder)}
          />
          <IconButton
            label="Upload files"
            icon={Upload}
            className="size-6"
            onClick={() => chooseFiles((chosen) => actions.upload(folder, chosen))}
          />
        </>
      )}
      <IconButton
        label="Collapse all folders"
        icon={CopyMinus}
        className="ml-auto size-6"
        onClick={onCollapse}
      />
    </div>
  );
}

const bringsFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes('Files');
