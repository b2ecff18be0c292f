import type { KeyboardEvent } from 'react';
import { ContextMenu, type MenuItem } from '@/components/ui/menu';
import { TreeButton } from '@/components/ui/tree-button';
import { chooseFiles } from '@/lib/choose-files';
import type { FileActions } from './file-actions';
import type { TreeNode, TreeRow } from '@/lib/file-tree';

interface TreeLineProps {
  row: TreeRow;
  selected: boolean;
  actions: FileActions;
  /** Whether files cannot be changed: at a past moment, or by a viewer. */
  fixed: boolean;
  onToggle(): void;
}

/** A file or folder with a context menu; F2 renames it and Delete deletes it. */
export function TreeLine({ row, selected, actions, fixed, onToggle }: TreeLineProps) {
  const { node } = row;
  const onKeyDown = (event: KeyboardEvent<HTMLButtonElement>) => {
    if (!fixed && event.key === 'F2') actions.rename(node);
    else if (!fixed && event.key === 'Delete') actions.remove(node);
  };
  return (
    <ContextMenu
      items={() => menuOf(node, actions, fixed)}
      trigger={
        <TreeButton row={row} selected={selected} onClick={onToggle} onKeyDown={onKeyDown} />
      }
    />
  );
}

function menuOf(node: TreeNode, actions: FileActions, fixed: boolean): (MenuItem | null)[] {
  const { path, kind } = node;
  const folder = kind === 'folder';
  return [
    ...(folder ? [] : [{ label: 'Download', run: () => actions.save(path) }]),
    { label: 'Copy path', run: () => actions.copyPath(path) },
    ...(fixed
      ? []
      : [
          null,
          ...(folder
            ? [
                { label: 'New file…', run: () => actions.create(path) },
                {
                  label: 'Upload here…',
                  run: () => chooseFiles((files) => actions.upload(path, files)),
                },
              ]
            : []),
          { label: 'Rename…', hint: 'F2', run: () => actions.rename(node) },
          { label: 'Delete…', hint: 'Del', danger: true, run: () => actions.remove(node) },
        ]),
  ];
}
