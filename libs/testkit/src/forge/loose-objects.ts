import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

/** The mode and id of each file by its path. */
export type TreeFiles = ReadonlyMap<string, { mode: string; id: string }>;

interface LooseObject {
  type: string;
  content: Buffer;
}

/** The objects of a repository that are in no pack, read and written without a process for each. */
export class LooseObjects {
  readonly #trees = new Map<string, TreeFiles>();

  /** Objects are written to the first folder, and read from all. */
  constructor(private readonly folders: readonly [string, ...string[]]) {}

  /** Undefined for one that is not there. */
  find(id: string): LooseObject | undefined {
    const file = this.folders.map((folder) => fileOf(folder, id)).find((one) => existsSync(one));
    if (file === undefined) return undefined;
    const bytes = inflateSync(readFileSync(file));
    const content = bytes.subarray(bytes.indexOf(0) + 1);
    return { type: bytes.toString('latin1', 0, bytes.indexOf(' ')), content };
  }

  read(id: string): Buffer {
    const found = this.find(id);
    if (!found) throw new Error(`There is no object ${id}.`);
    return found.content;
  }

  write(type: 'blob' | 'tree' | 'commit', content: Buffer): string {
    const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const id = createHash('sha1').update(bytes).digest('hex');
    if (this.find(id)) return id;
    const file = fileOf(this.folders[0], id);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, deflateSync(bytes, { level: 1 }));
    return id;
  }

  /** All files below a tree, in git’s order. */
  files(tree: string): TreeFiles {
    const known = this.#trees.get(tree);
    if (known) return known;
    const files = new Map<string, { mode: string; id: string }>();
    for (const { mode, name, id } of entriesOf(this.read(tree)))
      if (mode !== '40000') files.set(name, { mode, id });
      else for (const [path, file] of this.files(id)) files.set(`${name}/${path}`, file);
    this.#trees.set(tree, files);
    return files;
  }

  /** Writes the tree of these files, and returns its id. */
  writeTree(files: TreeFiles): string {
    const entries = new Map<string, { mode: string; id: string }>();
    const folders = new Map<string, Map<string, { mode: string; id: string }>>();
    for (const [path, file] of files) {
      const [name = '', ...rest] = path.split('/');
      if (rest.length === 0) entries.set(name, file);
      else folders.set(name, (folders.get(name) ?? new Map()).set(rest.join('/'), file));
    }
    for (const [name, inner] of folders)
      entries.set(name, { mode: '40000', id: this.writeTree(inner) });
    // Git has a folder where its name with a slash would be.
    const keyOf = (name: string): Buffer => Buffer.from(folders.has(name) ? `${name}/` : name);
    const sorted = [...entries].toSorted(([a], [b]) => Buffer.compare(keyOf(a), keyOf(b)));
    const lines = sorted.map(([name, { mode, id }]) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
    );
    return this.write('tree', Buffer.concat(lines));
  }
}

const fileOf = (folder: string, id: string): string =>
  join(folder, 'objects', id.slice(0, 2), id.slice(2));

function* entriesOf(tree: Buffer): Generator<{ mode: string; name: string; id: string }> {
  for (let at = 0; at < tree.length;) {
    const end = tree.indexOf(0, at);
    const [mode = '', ...name] = tree.toString('utf8', at, end).split(' ');
    at = end + 21;
    yield { mode, name: name.join(' '), id: tree.toString('hex', end + 1, at) };
  }
}
