import { rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AppError, copyHead, maxCopyHead, type CopyKind } from '@belay/protocol';
import type { z } from 'zod';
import { importWorkspace } from '../workspace/import-workspace.js';
import type { Git } from './git.js';
import type { OwnCommits } from './own-commits.js';
import type { Recorder } from './recorder.js';
import type { RepositoryCopy } from './repository-copy.js';
import { baseRef, branch } from './repository.js';

type Head = z.output<typeof copyHead>;

interface CopyRestorerOptions {
  git: Git;
  recorder: Recorder;
  own: OwnCommits;
  repository: RepositoryCopy;
}

/**
 * Unpacks copies of steps in a new sandbox, before its session begins. Git checks the packs, and `CheckedTar` the
 * archives; both were made by programs of the session, and are unpacked with the rights of such programs.
 */
export class CopyRestorer {
  readonly #options: CopyRestorerOptions;
  /** The head of the last part of the steps, and the base of the last whole one. */
  #last: Head | undefined;
  #base: string | undefined;
  #failed = false;

  constructor(options: CopyRestorerOptions) {
    this.#options = options;
  }

  /** Parts of a kind come in order. Rejects with `AppError`; the parts before it stay. */
  async restore(kind: CopyKind, part: Readable): Promise<void> {
    const { head, content } = await withoutHead(part);
    if (kind === 'steps') return this.#restoreSteps(head, content);
    this.#failed = true;
    const { workspace } = this.#options.git.places;
    for (const path of head.removed)
      if (isOwnPath(path)) await rm(join(workspace, path), { recursive: true, force: true });
    await importWorkspace(workspace, content);
    this.#failed = false;
  }

  /** Writes the files of the last step into the workspace; returns the step, and what its copy lacks. */
  async checkOut(): Promise<Pick<Head, 'commit' | 'without'>> {
    const { git, recorder, repository } = this.#options;
    if (!this.#last) throw new AppError('conflict', 'No part of a copy has a step.');
    const { commit, without } = this.#last;
    const updates = `update ${branch} ${commit}\nupdate ${baseRef} ${this.#base ?? commit}\n`;
    await git.run(['update-ref', '--stdin'], { input: updates });
    await git.run(['read-tree', '--reset', '-u', commit]);
    recorder.beginAgain();
    if (!this.#failed) await repository.isRestored();
    return { commit, without };
  }

  async #restoreSteps(head: Head, content: Readable): Promise<void> {
    const { git, own } = this.#options;
    const isWhole = head.base !== undefined;
    // Git must know where the history begins before it reads it.
    const cut = join(git.places.folder, 'shallow');
    if (isWhole && head.shallow) writeFileSync(cut, head.shallow, 'latin1');
    else if (isWhole) rmSync(cut, { force: true });
    await git.run(['index-pack', '--stdin', '--fix-thin'], { input: content });
    if (isWhole && head.ownStart !== undefined) own.start = head.ownStart;
    this.#base = head.base ?? this.#base;
    this.#last = head;
  }
}

const isOwnPath = (path: string): boolean =>
  /^\.git(\/|$)/.test(path) && !path.split('/').includes('..');

async function withoutHead(part: Readable): Promise<{ head: Head; content: Readable }> {
  const chunks = part.iterator({ destroyOnReturn: false });
  let bytes: Buffer = Buffer.alloc(0);
  const take = async (count: number): Promise<Buffer> => {
    if (count > maxCopyHead) throw broken();
    const read = [bytes];
    let size = bytes.length;
    while (size < count) {
      const { value, done } = await chunks.next();
      if (done) throw broken();
      read.push(value as Buffer);
      size += (value as Buffer).length;
    }
    bytes = Buffer.concat(read);
    const taken = bytes.subarray(0, count);
    bytes = bytes.subarray(count);
    return taken;
  };
  const size = (await take(4)).readUInt32BE();
  const json = (await take(size)).toString();
  const head = copyHead.safeParse(parsed(json)).data;
  if (!head) throw broken();
  const rest = bytes;
  async function* content(): AsyncGenerator<Buffer> {
    yield rest;
    for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) yield chunk as Buffer;
  }
  return { head, content: Readable.from(content()) };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const broken = (): AppError =>
  new AppError('invalid_input', 'The part of a copy cannot be read: its beginning is broken.');
