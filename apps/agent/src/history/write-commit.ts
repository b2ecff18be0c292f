import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { fault } from '../files/fault.js';
import { author, baseRef, branch } from './repository.js';

/** Git’s id of a tree without files. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

interface Content {
  tree: string;
  /** Null for the first commit, which is the base, too. */
  parent: string | null;
  message: string;
}

/**
 * Puts a commit on the branch as `git commit-tree` and `git update-ref` would, and returns its id. The result of a
 * session’s call waits for it, and starting two processes takes longer. No other process writes commits here. Throws
 * `disk_full`.
 */
export function writeCommit(repository: string, { tree, parent, message }: Content): string {
  const signed = `${author} ${Math.floor(Date.now() / 1000)} +0000`;
  const before = parent === null ? '' : `parent ${parent}\n`;
  const body = `tree ${tree}\n${before}author ${signed}\ncommitter ${signed}\n\n${message}`;
  try {
    if (tree === emptyTree) writeObject(repository, 'tree', '');
    const commit = writeObject(repository, 'commit', body);
    // The branch is written last: without it the commit is not there.
    for (const ref of parent === null ? [baseRef, branch] : [branch])
      write(join(repository, ref), `${commit}\n`);
    return commit;
  } catch (error) {
    throw fault(error, 'the history');
  }
}

function writeObject(repository: string, kind: 'commit' | 'tree', body: string): string {
  const object = Buffer.from(`${kind} ${Buffer.byteLength(body)}\0${body}`);
  const id = createHash('sha1').update(object).digest('hex');
  write(join(repository, 'objects', id.slice(0, 2), id.slice(2)), deflateSync(object));
  return id;
}

/** Whole or not at all, also when the agent is killed meanwhile: with the lock that git uses for references. */
function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.lock`, content);
  renameSync(`${file}.lock`, file);
}
