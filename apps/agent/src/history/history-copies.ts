import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { AppError, type CopyHead, type CopyKind } from '@belay/protocol';
import type { CopyRestorer } from './copy-restorer.js';
import { CopySender, type CopyStore } from './copy-sender.js';
import type { Git } from './git.js';
import type { OwnCommits } from './own-commits.js';
import type { Recorder } from './recorder.js';
import { RepositoryCopy } from './repository-copy.js';

/** How long the end of the agent waits for the copy of the last steps. */
const closeTimeoutMs = 1_000;

export interface HistoryCopiesOptions {
  git: Git;
  recorder: Recorder;
  own: OwnCommits;
  state: string;
  /** Where the copies go; without it, there are none. */
  server: CopyStore | undefined;
  /** Creates the repository. */
  prepare(): Promise<void>;
  note(message: string): Promise<void>;
}

/** Copies of a history and of the workspace’s own `.git`: those that go to the server, and those that come back. */
export class HistoryCopies {
  readonly #options: HistoryCopiesOptions & { repository: RepositoryCopy };
  readonly #sender: CopySender | undefined;
  #restorer: Promise<CopyRestorer> | undefined;

  constructor(options: HistoryCopiesOptions) {
    const { git, state, server } = options;
    const memory = join(state, 'copied-repository.json');
    this.#options = { ...options, repository: new RepositoryCopy(git.places.workspace, memory) };
    this.#sender = server && new CopySender({ ...this.#options, server });
  }

  /** Unpacks a part in a new sandbox, before the history begins; see `CopyRestorer`. Rejects with `AppError`. */
  async restorePart(kind: CopyKind, part: Readable): Promise<void> {
    await this.#options.prepare();
    // Loaded when it is needed, because few sessions are restored.
    this.#restorer ??= import('./copy-restorer.js').then(
      ({ CopyRestorer }) => new CopyRestorer(this.#options),
    );
    await (await this.#restorer).restore(kind, part);
  }

  /** After all parts: writes the files of the last step. Rejects with `AppError`. */
  async checkOut(): Promise<Pick<CopyHead, 'commit' | 'without'>> {
    if (!this.#restorer) throw new AppError('conflict', 'No part of a copy has arrived.');
    return (await this.#restorer).checkOut();
  }

  /** There may be something new to copy. */
  changed(): void {
    this.#sender?.changed();
  }

  /** Resolves when the server has a copy of all steps so far. Rejects with `AppError`. */
  async flush(): Promise<void> {
    await this.#sender?.flush();
  }

  /** Copies the last steps, if that takes no longer than a second. Never rejects. */
  async close(): Promise<void> {
    await this.#sender?.close(closeTimeoutMs);
  }
}
