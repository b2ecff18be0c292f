import { Session } from 'node:inspector/promises';

/** Which code of some files has run, according to V8's block coverage. */
export class Coverage {
  static async start(files: RegExp): Promise<Coverage> {
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    return new Coverage(session, files);
  }

  readonly #session: Session;
  readonly #files: RegExp;
  readonly #known = new Set<string>();

  private constructor(session: Session, files: RegExp) {
    this.#session = session;
    this.#files = files;
  }

  /** The number of different blocks that have run. */
  get blocks(): number {
    return this.#known.size;
  }

  /**
   * Whether a new block has run since the last call. A block counts once for each order of
   * magnitude (powers of two) of its run count.
   */
  async isNew(): Promise<boolean> {
    const before = this.#known.size;
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    for (const { url, scriptId, functions } of result) {
      if (!this.#files.test(url)) continue;
      for (const { ranges } of functions)
        for (const { startOffset, endOffset, count } of ranges)
          if (count > 0)
            this.#known.add(
              `${scriptId}:${startOffset}:${endOffset}:${Math.floor(Math.log2(count))}`,
            );
    }
    return this.#known.size > before;
  }
}
