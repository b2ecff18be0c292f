import { ignoreError } from '@belay/protocol';
import type { Git } from './git.js';
import type { Recorder } from './recorder.js';
import { dropOldSteps, packObjects, repositoryBytes } from './repository-size.js';

const defaultMaxBytes = 2_000_000_000;
/** The number of steps between checks of the repository’s size. */
const stepsBetween = 200;
const bytesBetween = 100_000_000;

/** Keeps the repository small and fast: packs its objects now and then, and drops old steps above a size in bytes. */
export class RepositoryUpkeep {
  readonly #git: Git;
  readonly #recorder: Recorder;
  readonly #maxBytes: number;
  #steps = 0;
  #packing: Promise<void> = Promise.resolve();

  constructor(git: Git, recorder: Recorder, maxBytes = defaultMaxBytes) {
    this.#git = git;
    this.#recorder = recorder;
    this.#maxBytes = maxBytes;
  }

  /** Returns how many old steps were dropped. */
  async afterStep(): Promise<number> {
    this.#steps++;
    const enough = Math.min(bytesBetween, this.#maxBytes);
    if (this.#steps < stepsBetween && this.#recorder.stagedBytes < enough) return 0;
    this.#steps = 0;
    this.#recorder.stagedBytes = 0;
    await this.#packing;
    if ((await repositoryBytes(this.#git)) > this.#maxBytes)
      return dropOldSteps(this.#git, this.#maxBytes);
    this.#packing = packObjects(this.#git).catch(ignoreError('the next packing tries again'));
    return 0;
  }
}
