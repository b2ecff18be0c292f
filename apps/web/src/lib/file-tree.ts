export interface TreeNode {
  name: string;
  path: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  children: TreeNode[];
}

export interface TreeRow {
  node: TreeNode;
  depth: number;
  open: boolean;
}

/** Builds a tree from a flat list of paths, sorted with folders first, then by name. */
export function buildTree(
  entries: readonly { path: string; kind: TreeNode['kind'] }[],
): TreeNode[] {
  const root: TreeNode = { name: '', path: '', kind: 'folder', children: [] };
  const folders = new Map([['', root]]);
  const folder = (path: string): TreeNode => {
    const known = folders.get(path);
    if (known) return known;
    const made: TreeNode = { name: baseName(path), path, kind: 'folder', children: [] };
    folders.set(path, made);
    folder(parentOf(path)).children.push(made);
    return made;
  };
  for (const { path, kind } of entries) {
    const clean = path.replace(/^\.\//, '').replace(/\/$/, '');
    if (!clean || clean === '.') continue;
    if (kind === 'folder') folder(clean);
    else
      folder(parentOf(clean)).children.push({
        name: baseName(clean),
        path: clean,
        kind,
        children: [],
      });
  }
  for (const { children } of folders.values()) children.sort(byKindAndName);
  return root.children;
}

/** The visible rows of a tree, given the paths of its open folders. */
export function visibleRows(
  nodes: readonly TreeNode[],
  open: ReadonlySet<string>,
  depth = 0,
): TreeRow[] {
  return nodes.flatMap((node) => {
    const isOpen = node.kind === 'folder' && open.has(node.path);
    const row = { node, depth, open: isOpen };
    return isOpen ? [row, ...visibleRows(node.children, open, depth + 1)] : [row];
  });
}

/** Sorts paths as the rows of a tree whose folders are all open. */
export function byTreeOrder(one: string, other: string): number {
  const [a, b] = [one.split('/'), other.split('/')];
  const at = a.findIndex((name, index) => name !== b[index]);
  const isFolder = (path: string[]) => at < path.length - 1;
  if (at < 0) return a.length - b.length;
  return Number(isFolder(b)) - Number(isFolder(a)) || names.compare(a[at] ?? '', b[at] ?? '');
}

/** All folders above a path. */
export function foldersAbove(path: string): string[] {
  const parent = parentOf(path);
  return parent ? [...foldersAbove(parent), parent] : [];
}

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Sorts `test2` before `test10`. */
const names = new Intl.Collator(undefined, { numeric: true });

const byKindAndName = (a: TreeNode, b: TreeNode): number =>
  Number(b.kind === 'folder') - Number(a.kind === 'folder') || names.compare(a.name, b.name);
