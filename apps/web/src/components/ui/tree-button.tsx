import type { ComponentProps, KeyboardEvent } from 'react';
import { visibleText } from '@belay/protocol';
import { File, Folder } from 'lucide-react';
import { clsx } from 'clsx';
import type { TreeRow } from '@/lib/file-tree';
import { FoldMark } from './fold';
import { VisibleText } from './visible-text';

interface TreeButtonProps extends ComponentProps<'button'> {
  row: TreeRow;
  selected: boolean;
}

/**
 * A file or folder of a tree in a virtual list, with arrow keys to navigate, expand and collapse.
 */
export function TreeButton({ row, selected, children, onKeyDown, ...button }: TreeButtonProps) {
  const { node, depth, open } = row;
  const folder = node.kind === 'folder';
  const Icon = folder ? Folder : File;
  return (
    <button
      type="button"
      {...(folder ? { 'aria-expanded': open } : { 'aria-current': selected })}
      title={visibleText(node.path)}
      onKeyDown={(event) => {
        onKeyDown?.(event);
        if (!event.defaultPrevented) moveFocus(event, folder, open);
      }}
      style={{ paddingLeft: 8 + depth * 12 }}
      className={clsx(
        'flex h-6 w-full items-center gap-1.5 pr-2 text-left text-sm whitespace-nowrap hover:bg-hover data-[state=open]:bg-hover',
        selected && 'bg-hover font-medium',
      )}
      {...button}
    >
      {folder ? <FoldMark open={open} /> : <span aria-hidden className="size-[13px] shrink-0" />}
      <Icon size={13} aria-hidden className="shrink-0 text-faint" />
      <span className="min-w-0 truncate">
        <VisibleText text={node.name} />
      </span>
      {children}
    </button>
  );
}

/** Up and Down move the focus; Left and Right collapse and expand a folder. */
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
