import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { reach, readFolder } from '@belay/host';
import { readRegular } from './list-workspace.js';

/** The files of a repository’s history: new ones, and copies from its `.git`. */
export interface HistoryFiles {
  written: { path: string; content: string }[];
  copied: { path: string; stat: Stats }[];
}

/** Why a history cannot be copied. */
export class NoHistory {
  constructor(readonly why: string) {}
}

/**
 * The history of the repository at `path` below `root`: HEAD, its branch, tags, index and objects, with settings of
 * our own. Hooks, remotes and settings are left out. A repository with parts elsewhere is not copied: a `.git` that is
 * a link or a file, a worktree, objects of another repository.
 */
export async function historyFiles(
  root: string,
  path: string,
): Promise<HistoryFiles | NoHistory | undefined> {
  const own = path === '' ? '.git' : `${path}/.git`;
  const stat = await statOf(root, own);
  if (!stat) return undefined;
  if (!stat.isDirectory()) return new NoHistory('its .git leads to another folder');
  const names = (await readFolder(root, own)).map(({ name }) => name.toString());
  if (names.includes('commondir')) return new NoHistory('it is a worktree of another repository');
  if (names.includes('reftable')) return new NoHistory('its references are stored as a reftable');
  const head = await readText(root, `${own}/HEAD`, 1_000);
  if (!head || !/^(ref: refs\/heads\/[^\s:?*[\\^~]+|[0-9a-f]{40,64})\n$/.test(head)) {
    return new NoHistory('its HEAD cannot be read');
  }
  const copied = await objectsOf(root, `${own}/objects`);
  if (copied instanceof NoHistory) return copied;
  for (const name of names.filter((each) => /^(index|sharedindex\.[0-9a-f]+)$/.test(each))) {
    const found = await statOf(root, `${own}/${name}`);
    if (found?.isFile()) copied.push({ path: `${own}/${name}`, stat: found });
  }
  return { copied, written: await writtenFiles(root, own, head) };
}

async function writtenFiles(
  root: string,
  own: string,
  head: string,
): Promise<HistoryFiles['written']> {
  const branch = head.startsWith('ref: ') ? head.slice(5).trimEnd() : undefined;
  const references = await referencesOf(root, own, (name) => name === branch || isTag(name));
  const ids = [...references.values(), ...(branch ? [] : [head.trimEnd()])];
  const shallow = await readText(root, `${own}/shallow`, 1_000_000);
  const isShallow = shallow !== undefined && /^([0-9a-f]{40,64}\n)+$/.test(shallow);
  return [
    { path: `${own}/HEAD`, content: head },
    { path: `${own}/config`, content: ids.some((id) => id.length === 64) ? sha256 : sha1 },
    { path: `${own}/packed-refs`, content: packedReferences(references) },
    ...(isShallow ? [{ path: `${own}/shallow`, content: shallow }] : []),
  ];
}

const isTag = (name: string): boolean => name.startsWith('refs/tags/');

/** All object files; fails for a link, or a list of other object folders. */
async function objectsOf(
  root: string,
  folder: string,
): Promise<HistoryFiles['copied'] | NoHistory> {
  const stat = await statOf(root, folder);
  if (!stat?.isDirectory()) return new NoHistory('its objects are stored elsewhere');
  const copied: HistoryFiles['copied'] = [];
  for (const entry of await readFolder(root, folder)) {
    const name = entry.name.toString();
    const inner = `${folder}/${name}`;
    if (name === 'info') {
      const names = (await readFolder(root, inner)).map((each) => each.name.toString());
      if (names.some((each) => each.endsWith('alternates')))
        return new NoHistory('it borrows the objects of another repository');
    }
    const pattern = name === 'pack' ? packFile : /^[0-9a-f]{2}$/.test(name) ? looseObject : null;
    if (!pattern) continue;
    if (entry.kind !== 'folder') return new NoHistory('its objects are stored elsewhere');
    for (const file of await readFolder(root, inner)) {
      const path = `${inner}/${file.name.toString()}`;
      if (path.endsWith('.promisor')) return new NoHistory('it is a partial clone');
      if (!pattern.test(file.name.toString())) continue;
      const found = await statOf(root, path);
      if (!found?.isFile()) return new NoHistory('its objects are stored elsewhere');
      copied.push({ path, stat: found });
    }
  }
  return copied;
}

const packFile = /^pack-[0-9a-f]{40,64}\.(pack|idx|rev)$/;
const looseObject = /^[0-9a-f]{38,62}$/;

/** References by name; separate files take precedence over packed ones. */
async function referencesOf(
  root: string,
  own: string,
  wanted: (name: string) => boolean,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const packed = (await readText(root, `${own}/packed-refs`, 100_000_000)) ?? '';
  for (const line of packed.split('\n')) {
    const [, id, name] = /^([0-9a-f]{40,64}) (refs\/\S+)$/.exec(line) ?? [];
    if (id && name && wanted(name)) found.set(name, id);
  }
  for (const folder of ['refs/heads', 'refs/tags']) await addLoose(folder);
  return found;

  async function addLoose(name: string, depth = 0): Promise<void> {
    if (depth > 20) return;
    const entries = await readFolder(root, `${own}/${name}`).catch(() => []);
    for (const entry of entries) {
      const inner = `${name}/${entry.name.toString()}`;
      if (entry.kind === 'folder') await addLoose(inner, depth + 1);
      if (entry.kind !== 'file' || !wanted(inner)) continue;
      const id = (await readText(root, `${own}/${inner}`, 100))?.trimEnd();
      if (id && /^[0-9a-f]{40,64}$/.test(id)) found.set(inner, id);
    }
  }
}

const packedReferences = (references: Map<string, string>): string =>
  [...references]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, id]) => `${id} ${name}\n`)
    .join('');

const readText = async (root: string, path: string, maxBytes: number) =>
  (await readRegular(root, path, maxBytes))?.toString();

const statOf = (root: string, path: string): Promise<Stats | undefined> =>
  reach(root, path, ({ at }) => lstat(at)).catch(() => undefined);

const sha1 = '[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n\tfileMode = true\n';
const sha256 = `${sha1.replace('= 0', '= 1')}[extensions]\n\tobjectFormat = sha256\n`;
