import { useMemo, useState, type KeyboardEvent } from 'react';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight, File, Folder } from 'lucide-react';
import { Empty, Failed, Loading } from '@/components/ui/empty';
import { VirtualList } from '@/components/ui/virtual-list';
import { cx } from '@/lib/classes';
import { useSessionId, useView } from '../sessions/session-context';
import { filesQuery } from './files-query';
import { buildTree, foldersAbove, visibleRows, type TreeRow } from './tree';

const pathOf = (row: TreeRow): string => row.node.path;

interface FileTreeProps {
  selected: string | null;
  onOpen(path: string): void;
}

export function FileTree({ selected, onOpen }: FileTreeProps) {
  const session = useSessionId();
  const commit = useView((view) => view.lastCommit?.args.commit ?? '');
  const files = useQuery({ ...filesQuery(session, commit), enabled: commit !== '' });
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<string | null>(null);
  if (selected && selected !== opened) {
    setOpened(selected);
    setOpen(new Set([...open, ...foldersAbove(selected)]));
  }
  const tree = useMemo(() => buildTree(files.data?.entries ?? []), [files.data]);
  const rows = useMemo(() => visibleRows(tree, open), [tree, open]);
  const toggle = ({ node }: TreeRow) => {
    if (node.kind !== 'folder') return onOpen(node.path);
    const next = new Set(open);
    if (!next.delete(node.path)) next.add(node.path);
    setOpen(next);
  };
  if (commit === '')
    return <Empty title="No files yet">They appear here once the sandbox is there.</Empty>;
  if (files.isPending) return <Loading what="the files" />;
  if (files.isError) return <Failed error={files.error} retry={() => void files.refetch()} />;
  if (!rows.length)
    return <Empty title="The workspace is empty">Files appear here as the agent makes them.</Empty>;
  return (
    <VirtualList
      items={rows}
      keyOf={pathOf}
      estimate={24}
      label="Files"
      className="h-full overflow-auto py-1"
      render={(row) => (
        <TreeLine row={row} selected={row.node.path === selected} onToggle={() => toggle(row)} />
      )}
    />
  );
}

interface TreeLineProps {
  row: TreeRow;
  selected: boolean;
  onToggle(): void;
}

function TreeLine({ row: { node, depth, open }, selected, onToggle }: TreeLineProps) {
  const folder = node.kind === 'folder';
  const Icon = folder ? Folder : File;
  return (
    <button
      type="button"
      {...(folder ? { 'aria-expanded': open } : { 'aria-current': selected })}
      title={node.path}
      onClick={onToggle}
      onKeyDown={(event) => moveFocus(event, folder, open)}
      style={{ paddingLeft: 8 + depth * 12 }}
      className={cx(
        'flex h-6 w-full items-center gap-1.5 pr-2 text-left text-sm whitespace-nowrap hover:bg-hover',
        selected && 'bg-hover font-medium',
      )}
    >
      <ChevronRight
        size={12}
        aria-hidden
        className={cx('shrink-0 text-faint', !folder && 'invisible', open && 'rotate-90')}
      />
      <Icon size={13} aria-hidden className="shrink-0 text-faint" />
      <span className="truncate">{node.name}</span>
    </button>
  );
}

/** Arrows walk the tree as in any file tree. */
function moveFocus(event: KeyboardEvent<HTMLButtonElement>, folder: boolean, open: boolean): void {
  const item = event.currentTarget.closest('li');
  const index = Number(item?.dataset['index']);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    item?.parentElement
      ?.querySelector<HTMLElement>(`li[data-index="${index + step}"] button`)
      ?.focus();
  }
  if (folder && event.key === (open ? 'ArrowLeft' : 'ArrowRight')) event.currentTarget.click();
}
