import type { KeyboardEvent } from 'react';
import { ChevronRight, File, Folder } from 'lucide-react';
import { ContextMenu, type MenuItem } from '@/components/ui/menu';
import { cx } from '@/lib/classes';
import { chooseFiles } from '@/lib/choose-files';
import type { FileActs } from './file-acts';
import type { TreeNode, TreeRow } from './tree';

interface TreeLineProps {
  row: TreeRow;
  selected: boolean;
  acts: FileActs;
  /** Nothing can be changed: in the past, or for a viewer. */
  fixed: boolean;
  onToggle(): void;
}

/** One file or folder; its menu opens by the right button, the menu key, F2 renames and Delete deletes. */
export function TreeLine({ row, selected, acts, fixed, onToggle }: TreeLineProps) {
  const { node, depth, open } = row;
  const folder = node.kind === 'folder';
  const Icon = folder ? Folder : File;
  const onKeyDown = (event: KeyboardEvent<HTMLButtonElement>) => {
    if (!fixed && event.key === 'F2') acts.rename(node);
    else if (!fixed && event.key === 'Delete') acts.remove(node);
    else moveFocus(event, folder, open);
  };
  return (
    <ContextMenu
      items={() => menuOf(node, acts, fixed)}
      trigger={
        <button
          type="button"
          {...(folder ? { 'aria-expanded': open } : { 'aria-current': selected })}
          title={node.path}
          onClick={onToggle}
          onKeyDown={onKeyDown}
          style={{ paddingLeft: 8 + depth * 12 }}
          className={cx(
            'flex h-6 w-full items-center gap-1.5 pr-2 text-left text-sm whitespace-nowrap hover:bg-hover data-[state=open]:bg-hover',
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
      }
    />
  );
}

function menuOf(node: TreeNode, acts: FileActs, fixed: boolean): (MenuItem | null)[] {
  const { path, kind } = node;
  const folder = kind === 'folder';
  return [
    ...(folder ? [] : [{ label: 'Download', run: () => acts.save(path) }]),
    { label: 'Copy path', run: () => acts.copyPath(path) },
    ...(fixed
      ? []
      : [
          null,
          ...(folder
            ? [
                { label: 'New file…', run: () => acts.create(path) },
                {
                  label: 'Upload here…',
                  run: () => chooseFiles((files) => acts.upload(path, files)),
                },
              ]
            : []),
          { label: 'Rename…', hint: 'F2', run: () => acts.rename(node) },
          { label: 'Delete…', hint: 'Del', danger: true, run: () => acts.remove(node) },
        ]),
  ];
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
