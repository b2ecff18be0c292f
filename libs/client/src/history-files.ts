/** An entry of a folder that is going to be sent. */
export interface FolderItem {
  kind: 'file' | 'folder' | 'link' | 'other';
  /** Bytes of a file. */
  size: number;
  modified: Date;
}

/** Reads below one folder, follows no links. Paths are separated by `/`. */
export interface FolderReader {
  /** The names in a folder with their kinds. Rejects if it cannot be read. */
  entries(path: string): Promise<{ name: string; kind: FolderItem['kind'] }[]>;
  /** Undefined if there is no such entry. */
  item(path: string): Promise<FolderItem | undefined>;
  /** The text of a file; undefined for other entries and for files larger than `maxBytes`. */
  text(path: string, maxBytes: number): Promise<string | undefined>;
}

/** The files of a repository’s history: new ones, and copies from its `.git`. */
export interface HistoryFiles {
  /** Without these, git sees no repository, even if they are empty. */
  folders: string[];
  written: { path: string; content: string }[];
  copied: { path: string; size: number; modified: Date }[];
}

/** Why a history cannot be copied. */
export class NoHistory {
  constructor(readonly why: string) {}
}

/**
 * The history of the repository at `path`: HEAD, its branch, tags, index and objects, with settings of our own. Hooks,
 * remotes and settings are left out. A repository with parts elsewhere is not copied: a `.git` that is a link or a
 * file, a worktree, objects of another repository. Undefined if there is no repository.
 */
export async function historyFiles(
  reader: FolderReader,
  path: string,
): Promise<HistoryFiles | NoHistory | undefined> {
  const own = path === '' ? '.git' : `${path}/.git`;
  const top = await reader.item(own);
  if (!top) return undefined;
  if (top.kind !== 'folder') return new NoHistory('its .git leads to another folder');
  const names = (await reader.entries(own)).map(({ name }) => name);
  const head = (await reader.text(`${own}/HEAD`, 1_000)) ?? '';
  const odd = oddityOf(names, head);
  if (odd) return odd;
  const objects = await objectsOf(reader, `${own}/objects`);
  if (objects instanceof NoHistory) return objects;
  const branch = head.startsWith('ref: ') ? head.slice(5).trimEnd() : undefined;
  const references = await referencesOf(reader, own, (name) => name === branch || isTag(name));
  const ids = [...references.values(), ...(branch ? [] : [head.trimEnd()])];
  if (ids.length > 0 && objects.length === 0) return new NoHistory(elsewhere);
  return {
    folders: [`${own}/objects`, `${own}/refs`],
    copied: [...objects, ...(await indexFiles(reader, own, names))],
    written: [
      { path: `${own}/HEAD`, content: head },
      { path: `${own}/config`, content: ids.some((id) => id.length === 64) ? sha256 : sha1 },
      { path: `${own}/packed-refs`, content: packedReferences(references) },
      ...(await shallowFile(reader, own)),
    ],
  };
}

function oddityOf(names: readonly string[], head: string): NoHistory | undefined {
  if (names.includes('commondir')) return new NoHistory('it is a worktree of another repository');
  if (names.includes('reftable')) return new NoHistory('its references are stored as a reftable');
  if (/^(ref: refs\/heads\/[^\s:?*[\\^~]+|[0-9a-f]{40,64})\n$/.test(head)) return undefined;
  return new NoHistory('its HEAD cannot be read');
}

async function indexFiles(
  reader: FolderReader,
  own: string,
  names: readonly string[],
): Promise<HistoryFiles['copied']> {
  const copied: HistoryFiles['copied'] = [];
  for (const name of names.filter((each) => /^(index|sharedindex\.[0-9a-f]+)$/.test(each))) {
    const found = await reader.item(`${own}/${name}`);
    if (found?.kind === 'file') copied.push({ path: `${own}/${name}`, ...sizeOf(found) });
  }
  return copied;
}

const sizeOf = ({ size, modified }: FolderItem) => ({ size, modified });

async function shallowFile(reader: FolderReader, own: string): Promise<HistoryFiles['written']> {
  const content = await reader.text(`${own}/shallow`, 1_000_000);
  if (content === undefined || !/^([0-9a-f]{40,64}\n)+$/.test(content)) return [];
  return [{ path: `${own}/shallow`, content }];
}

const isTag = (name: string): boolean => name.startsWith('refs/tags/');

/** All object files; fails for a link, or a list of other object folders. */
async function objectsOf(
  reader: FolderReader,
  folder: string,
): Promise<HistoryFiles['copied'] | NoHistory> {
  const top = await reader.item(folder);
  // A new repository has none, and browsers show no empty folders.
  if (!top) return [];
  if (top.kind !== 'folder') return new NoHistory(elsewhere);
  const copied: HistoryFiles['copied'] = [];
  for (const { name, kind } of await reader.entries(folder)) {
    const inner = `${folder}/${name}`;
    if (name === 'info') {
      const names = (await reader.entries(inner)).map((each) => each.name);
      if (names.some((each) => each.endsWith('alternates')))
        return new NoHistory('it borrows the objects of another repository');
    }
    const pattern = name === 'pack' ? packFile : /^[0-9a-f]{2}$/.test(name) ? looseObject : null;
    if (!pattern) continue;
    if (kind !== 'folder') return new NoHistory(elsewhere);
    for (const file of await reader.entries(inner)) {
      const path = `${inner}/${file.name}`;
      if (path.endsWith('.promisor')) return new NoHistory('it is a partial clone');
      if (!pattern.test(file.name)) continue;
      const found = await reader.item(path);
      if (found?.kind !== 'file') return new NoHistory(elsewhere);
      copied.push({ path, ...sizeOf(found) });
    }
  }
  return copied;
}

const elsewhere = 'its objects are stored elsewhere';
const packFile = /^pack-[0-9a-f]{40,64}\.(pack|idx|rev)$/;
const looseObject = /^[0-9a-f]{38,62}$/;

/** References by name; separate files take precedence over packed ones. */
async function referencesOf(
  reader: FolderReader,
  own: string,
  wanted: (name: string) => boolean,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const packed = (await reader.text(`${own}/packed-refs`, 100_000_000)) ?? '';
  for (const line of packed.split('\n')) {
    const [, id, name] = /^([0-9a-f]{40,64}) (refs\/\S+)$/.exec(line) ?? [];
    if (id && name && wanted(name)) found.set(name, id);
  }
  for (const folder of ['refs/heads', 'refs/tags']) await addLoose(folder);
  return found;

  async function addLoose(name: string, depth = 0): Promise<void> {
    if (depth > 20) return;
    const entries = await reader.entries(`${own}/${name}`).catch(() => []);
    for (const entry of entries) {
      const inner = `${name}/${entry.name}`;
      if (entry.kind === 'folder') await addLoose(inner, depth + 1);
      if (entry.kind !== 'file' || !wanted(inner)) continue;
      const id = (await reader.text(`${own}/${inner}`, 100))?.trimEnd();
      if (id && /^[0-9a-f]{40,64}$/.test(id)) found.set(inner, id);
    }
  }
}

const packedReferences = (references: Map<string, string>): string =>
  [...references]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, id]) => `${id} ${name}\n`)
    .join('');

const sha1 = '[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n\tfileMode = true\n';
const sha256 = `${sha1.replace('= 0', '= 1')}[extensions]\n\tobjectFormat = sha256\n`;
