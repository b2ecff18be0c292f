import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { author, baseRef, branch } from './repository.js';

/** Git’s id of a tree without files. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

interface Made {
  commit: string;
  tree: string;
}

/**
 * Writes the first commit of a new repository, without files, as `git write-tree`, `git commit-tree` and `git
 * update-ref` would. A session’s first reply waits for it, and three git processes would take longer than everything
 * before it.
 */
export function writeFirstCommit(repository: string, message: string): Made {
  const tree = writeObject(repository, 'tree', '');
  const signed = `${author} ${Math.floor(Date.now() / 1000)} +0000`;
  const body = `tree ${tree}\nauthor ${signed}\ncommitter ${signed}\n\n${message}`;
  const commit = writeObject(repository, 'commit', body);
  // The branch is written last: without it the history has not begun.
  for (const ref of [baseRef, branch]) write(join(repository, ref), `${commit}\n`);
  return { commit, tree };
}

function writeObject(repository: string, kind: 'commit' | 'tree', body: string): string {
  const object = Buffer.from(`${kind} ${Buffer.byteLength(body)}\0${body}`);
  const id = createHash('sha1').update(object).digest('hex');
  write(join(repository, 'objects', id.slice(0, 2), id.slice(2)), deflateSync(object));
  return id;
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
